/**
 * Kills the workers of a cloud process that was itself killed. Workers end when their channel closes, but one whose event
 * loop is blocked by a body never hears of that. A shell waits for the end of this process instead: it costs 1 MB, a
 * thread in each worker would cost 18.
 */
import { type ChildProcess, spawn } from 'node:child_process';

/** Reads `+ pid` and `- pid`; at the end of its input it kills all remaining processes. */
const SCRIPT = `
trap '' INT TERM HUP
pids=
while read -r change pid; do
  rest=
  for known in $pids; do [ "$known" = "$pid" ] || rest="$rest $known"; done
  pids=$rest
  [ "$change" = + ] && pids="$pids $pid"
done
[ -z "$pids" ] || kill -KILL $pids 2>/dev/null
`;

export class Reaper {
  readonly #shell: ChildProcess;

  constructor() {
    // In a session of its own: a signal to the cloud's process group must not end it before its work.
    this.#shell = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    // Without a shell the workers still end when their channel closes, unless they are blocked.
    this.#shell.on('error', () => {});
    this.#shell.stdin?.on('error', () => {});
    this.#shell.unref();
  }

  watch(pid: number): void {
    this.#shell.stdin?.write(`+ ${pid}\n`);
  }

  forget(pid: number): void {
    this.#shell.stdin?.write(`- ${pid}\n`);
  }

  close(): void {
    this.#shell.stdin?.end();
  }
}
