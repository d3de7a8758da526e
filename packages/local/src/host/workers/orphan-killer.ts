/**
 * Kills the workers after the cloud process was killed. Workers end when their channel closes, but not while a body blocks their event
 * loop. So a shell waits for the end of this process. It takes 1 MB; a thread in each worker would take 18 MB.
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

export class OrphanKiller {
  readonly #shell: ChildProcess;

  constructor() {
    // Its own session, so that a signal to the cloud's process group does not end it.
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
