/** Mark of a list that updates live, or does not. */
import type { StreamState } from './use-stream.ts';

const SAID = {
  connecting: ['quiet', '○', 'connecting', 'The list is about to move by itself'],
  live: ['live', '●', 'live', 'The newest hundred of these runs move by themselves'],
  reconnecting: ['warn', '↻', 'reconnecting', 'The connection was lost; what is shown may be old'],
  still: [
    'quiet',
    '○',
    'read once',
    'A list by a comparison or a beginning, or in another order, does not move by itself',
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
