/*
 * Functions that other machines lack: where isa.injects is false nobody calls
 * them.
 */
#if !defined __x86_64__ && !defined __aarch64__
#pragma weak gadgets_call
#pragma weak gadgets_back
#pragma weak gadgets_seek
#pragma weak call_refused
#pragma weak call_load
#pragma weak call_cancel
#pragma weak call_result
#pragma weak call_pending
#pragma weak kept_read
#pragma weak kept_write
#pragma weak again_look
#pragma weak again_first
#pragma weak again_load
#pragma weak frame_build
#pragma weak frame_exit
#endif
