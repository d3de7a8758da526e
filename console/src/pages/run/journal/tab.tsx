/** The tab of the run's journal. */
export function JournalTab() {
  return null;
}
