/** The tab of the run's checkpoints. */
export function CheckpointsTab() {
  return null;
}
