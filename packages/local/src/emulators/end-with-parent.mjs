// Preloaded into firebase-tools: ends it, and the functions it runs, when the process that started it is gone, however that
// went. Left alone it would keep its port and they their memory. It leads a process group of its own, so that a signal to the
// group reaches just these. Plain JS, for it runs before anything of ours.

/** For functions to give their runs back: they hear SIGTERM, but do not end by it. */
const RELEASE_MS = 1_000;
const signalAll = (signal) => process.kill(-process.pid, signal);

process.once('disconnect', () => {
  // It ends by the first signal, sooner or later than that; its functions by the second only.
  process.once('exit', () => signalAll('SIGKILL'));
  setTimeout(() => signalAll('SIGKILL'), RELEASE_MS);
  signalAll('SIGTERM');
});
// Listening to the channel must not keep the process alive once it has ended by itself.
process.channel?.unref();
