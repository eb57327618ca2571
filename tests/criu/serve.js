// serve.py in JavaScript: node serve.js LOG SOCKET
'use strict';

const fs = require('fs');
const http = require('http');

const OBJECTS = 20000;
const [path, socket] = process.argv.slice(2);
const log = fs.openSync(path, 'a', 0o600);
const kept = new Map();

for (let i = 0; i < OBJECTS; i++)
	kept.set(String(i), [i, String(i), i / 2]);

function counter(who)
{
	let count = 0;

	return () => {
		let wrong = 0;

		for (let i = 0; i < OBJECTS; i++) {
			const [a, b, c] = kept.get(String(i));

			wrong += a !== i || b !== String(i) || c !== i / 2;
		}
		const line = `${who} ${++count} ${wrong}\n`;

		fs.writeSync(log, line);
		return line;
	};
}

const request = counter('request');
const threads = counter('threads');

http.createServer((_, answer) => answer.end(request())).listen(socket);
setInterval(counter('clock'), 50);
// keep libuv's threads busy, which read files
setInterval(() => fs.promises.stat(path).then(threads), 50);
