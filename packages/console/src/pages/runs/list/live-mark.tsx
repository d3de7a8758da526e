/** Mark of a list that updates live, or does not. */
import type { StreamState } from './use-stream.ts';

const SAID = {
  connecting: ['quiet', '○', 'connecting', 'Live updates are starting'],
  live: ['live', '●', 'live', 'The newest hundred of these runs update live'],
  reconnecting: ['warn', '↻', 'reconnecting', 'Connection lost; the list may be out of date'],
  still: [
    'quiet',
    '○',
    'read once',
    'A list filtered by a comparison or a prefix, or in another order, is not updated live',
  ],
  refused: ['bad', '✕', 'not live', 'The API refuses to report changes'],
} as const;

export function LiveMark({ stream }: { readonly stream: StreamState }) {
  const [tone, mark, word, title] = SAID[stream.at];
  const why = stream.at === 'refused' ? `${title}: ${stream.error.message}` : title;
  return (
    <span className={`list-live ${tone}`} role="status" title={why}>
      <span aria-hidden="true">{mark}</span> {word}
    </span>
  );
}
