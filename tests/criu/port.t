#!/usr/bin/env bash
# Servers are taken under load, ended, and restored with the command that
# snapload prints: they serve their port as before.
# beside: others unsanitized
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

# shellcheck source=tests/criu/port.sh
. "$here/port.sh"

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
finish 35
