/**
 * Flags of Node for the processes of the local cloud. By default V8 compiles a function with Maglev after 400 calls, and after 500
 * more when it sees another kind of value. Most functions are called one to ten times a run, so the first hundreds of runs would be
 * interpreted. V8 of Node 22 and 24 has both flags; they are thresholds only.
 */
export const NODE_FLAGS: readonly string[] = [
  '--disable-warning=ExperimentalWarning',
  '--invocation-count-for-maglev=40',
  '--minimum-invocations-after-ic-update=40',
];
