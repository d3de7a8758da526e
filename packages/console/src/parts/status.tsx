/** The status of a run or step as a word, a colour and a shape, so never by colour alone. */

/** Tone (colour) and mark (shape) of each status. */
const TONES: Readonly<Record<string, readonly [tone: string, mark: string]>> = {
  pending: ['quiet', '○'],
  running: ['live', '◐'],
  replaying: ['live', '◐'],
  retrying: ['warn', '↻'],
  again: ['warn', '↻'],
  'sent back': ['warn', '↻'],
  interrupted: ['warn', '↯'],
  waiting: ['wait', '‖'],
  awaiting_approval: ['wait', '?'],
  waiting_external: ['wait', '‖'],
  succeeded: ['good', '✓'],
  completed: ['good', '✓'],
  degraded: ['good', '≈'],
  reused: ['good', '↺'],
  skipped: ['quiet', '–'],
  undone: ['quiet', '⟲'],
  'undo failed': ['bad', '⟲'],
  failed: ['bad', '✕'],
  cancelled: ['quiet', '⊘'],
  stopped: ['quiet', '⊘'],
};

export function Status({ status }: { readonly status: string }) {
  const [tone, mark] = TONES[status] ?? ['quiet', '·'];
  return (
    <span className={`status ${tone}`} data-status={status}>
      <span aria-hidden="true">{mark}</span> {status.replaceAll('_', ' ')}
    </span>
  );
}

export function toneOf(status: string): string {
  return TONES[status]?.[0] ?? 'quiet';
}
