#!/usr/bin/env bash
# Servers with a port are taken by snap under load, ended, and restored by criu
# with the command that snapload tells: they serve the port as before.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

command -v ip >/dev/null || skip_all 'no ip'
{ ip netns add own && ip -n own link set lo up; } 2>"$tmp/err" ||
    skip_all "no network namespaces: $(tail -n 1 "$tmp/err")"
in=(nsenter --net=/run/netns/own)
port=8017
log=$tmp/log
times=200
echo 'here is a file' >"$log"

load() {
	timeout 120 "${in[@]}" python3 "$here/load.py" $port "$@"
}

asked() {
	[ "$(load "$request" "$expected" 1)" = 1 ]
}

# serves WHAT COMMAND ...: by $request and $expected
serves() {
	local what=$1 before peers

	shift
	# it has nothing that was open here, and leads a session
	(for fd in /proc/self/fd/*; do
		fd=${fd##*/}
		[ "$fd" -lt 3 ] || eval "exec $fd<&-"
	done
	cd "$tmp" && exec "${in[@]}" setsid "$@" </dev/null >/dev/null 2>&1) &
	pid=$!
	disown "$pid"
	until_true asked
	is "$(load "$request" "$expected" $times)" $times "$what: serves"
	load "$request" "$expected" &
	peers=$!
	disown "$peers"
	before=$(load "$request" "$expected" $times)
	rm -rf "$tmp/there"
	timeout 60 "$BUILD/snap" -r -o "$tmp/snap" "$pid" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" '0 ' "$what: snap"
	is "$before $(load "$request" "$expected" $times)" "$times $times" \
	    "$what: serves all the while"
	kill -KILL "$peers"
	timeout 60 "$BUILD/snapload" -D "$tmp/there" "$tmp/snap" \
	    >"$tmp/command" 2>"$tmp/err"
	ok $? "$what: snapload" || diag <"$tmp/err"
	end
	until_true reaped "$pid"
	is "$(load "$request" "$expected" 1)" 0 "$what: is gone"
	restore "$tmp/there"
	is "$(load "$request" "$expected" $times)" $times \
	    "$what: serves as before"
	end
	until_true reaped "$pid"
}

request='GET /log HTTP/1.0\r\n\r\n'
expected='here is a file'
if python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null); then
	serves python "$python" -m http.server -b 127.0.0.1 $port
else
	skip python 'no python3' 7
fi
nginx=$(command -v nginx || command -v /usr/sbin/nginx)
if [ -n "$nginx" ]; then
	cat >"$tmp/nginx.conf" <<EOC
daemon off;
user root;
worker_processes 2;
error_log $tmp/nginx.log;
pid $tmp/nginx.pid;
events { }
http {
	access_log off;
	client_body_temp_path $tmp/body;
	proxy_temp_path $tmp/proxy;
	fastcgi_temp_path $tmp/fastcgi;
	uwsgi_temp_path $tmp/uwsgi;
	scgi_temp_path $tmp/scgi;
	server {
		listen 127.0.0.1:$port;
		root $tmp;
	}
}
EOC
	chmod 711 "$tmp"
	serves nginx "$nginx" -c "$tmp/nginx.conf"
else
	skip nginx 'no nginx' 7
fi
if node=$(node -p process.execPath 2>/dev/null); then
	cat >"$tmp/serve.js" <<EOC
require('http').createServer((request, answer) =>
    answer.end('here is a file')).listen($port, '127.0.0.1');
EOC
	serves node env UV_USE_IO_URING=0 "$node" "$tmp/serve.js"
else
	skip node 'no node' 7
fi
why=
if java=$(java -XshowSettings:properties -version 2>&1 |
    sed -n 's/^ *java.home = //p') && [ -n "$java" ]; then
	cat >"$tmp/Serve.java" <<EOC
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;

public class Serve {
	public static void main(String[] arg) throws Exception {
		byte[] answer = "here is a file".getBytes();
		HttpServer server = HttpServer.create(
		    new InetSocketAddress("127.0.0.1", $port), 0);
		server.createContext("/", request -> {
			request.sendResponseHeaders(200, answer.length);
			request.getResponseBody().write(answer);
			request.close();
		});
		server.start();
	}
}
EOC
fi
if [ -n "$java" ] && why=$("$java/bin/javac" -d "$tmp" "$tmp/Serve.java" 2>&1)
then
	serves java "$java/bin/java" -Xmx64m -cp "$tmp" Serve
else
	skip java "no java${why:+: ${why%%$'\n'*}}" 7
fi
why=
if go=$(command -v go); then
	cat >"$tmp/serve.go" <<EOC
package main

import (
	"fmt"
	"net/http"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "here is a file")
	})
	http.ListenAndServe("127.0.0.1:$port", nil)
}
EOC
	why=$(cd "$tmp" && GOCACHE=$tmp/cache GOFLAGS=-mod=mod timeout 120 \
	    "$go" build -o "$tmp/serve" serve.go 2>&1)
fi
if [ -n "$go" ] && [ -x "$tmp/serve" ]; then
	serves go "$tmp/serve"
else
	skip go "no go${why:+: ${why%%$'\n'*}}" 7
fi
request='*1\r\n$4\r\nPING\r\n'
expected='+PONG'
if redis=$(command -v redis-server); then
	serves redis "$redis" --port $port --bind 127.0.0.1 --save '' \
	    --dir "$tmp"
else
	skip redis 'no redis-server' 7
fi
request='version\r\n'
expected='VERSION'
if memcached=$(command -v memcached); then
	serves memcached "$memcached" -p $port -l 127.0.0.1 -u root
else
	skip memcached 'no memcached' 7
fi
finish 49
