// Preloaded into firebase-tools: ends it, and its functions, when the process that started it has ended for any reason.
// Otherwise it would keep its port. It leads its own process group, so a signal to the group reaches no other process.
// Plain JS, because it runs before any loader.

/** Time for functions to release their runs: they handle SIGTERM, but do not end. */
const RELEASE_MS = 1_000;
const signalAll = (signal) => process.kill(-process.pid, signal);

process.once('disconnect', () => {
  // The first signal ends firebase-tools, the second one its functions.
  process.once('exit', () => signalAll('SIGKILL'));
  setTimeout(() => signalAll('SIGKILL'), RELEASE_MS);
  signalAll('SIGTERM');
});
// Listening to the channel must not keep the process alive once it has ended by itself.
process.channel?.unref();
