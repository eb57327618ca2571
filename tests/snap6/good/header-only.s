# -c: A first line and no record.
"process snapshot 0 ann@host amd64 0 \"\"\n"
