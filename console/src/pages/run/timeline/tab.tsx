/** What happened when. */
export function TimelineTab() {
  return null;
}
