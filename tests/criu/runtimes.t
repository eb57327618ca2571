#!/usr/bin/env bash
# The tests of port.t for servers in Java and Go, whose runtimes have many
# threads.
# beside: others unsanitized
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"
# shellcheck source=tests/criu/port.sh
. "$here/port.sh"

request='GET /log HTTP/1.0\r\n\r\n'
expected='here is a file'
times=50
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
finish 14
