/** Shows whether the list updates live, and otherwise how old it is. */
import { CutText } from '../../../parts/value-text.tsx';
import { visibleText } from '../../../parts/visible-text.ts';
import { When } from '../../../parts/when.tsx';
import { useSession } from '../../../session/session.ts';
import type { StreamState } from './use-stream.ts';

const SAID = {
  connecting: ['quiet', '○', 'Connecting', 'Live updates are starting'],
  live: [
    'live',
    '●',
    'Updates live',
    'New runs appear, and the newest hundred of these runs change, without a reload',
  ],
  reconnecting: ['warn', '↻', 'Not updating, reconnecting', 'Connection lost; the list may be out of date'],
  still: [
    'quiet',
    '○',
    'Not updated live',
    'A list filtered by a comparison or a prefix, or in another order, is not updated live',
  ],
  refused: ['bad', '✕', 'Not updating', 'The API refuses to report changes'],
} as const;

/** Characters shown of a refusal; more do not fit on the widest screen. */
const MAX_CHARS = 300;

interface LiveMarkProps {
  readonly stream: StreamState;
  /** When the rows were read or last changed by the stream, by this machine's clock; epoch ms. 0: not yet. */
  readonly readAt: number;
  /** Reads the list again. */
  again(): void;
}

export function LiveMark({ stream, readAt, again }: LiveMarkProps) {
  const { api } = useSession();
  const [tone, mark, word, title] = SAID[stream.at];
  const isBehind = stream.at !== 'live' && stream.at !== 'connecting' && readAt > 0;
  const why = stream.at === 'refused' ? stream.error.message : undefined;
  return (
    <>
      <span
        className={`list-live ${tone}`}
        role="status"
        title={why === undefined ? title : `${title}: ${visibleText(why)}`}
      >
        <span>
          <span aria-hidden="true">{mark}</span> {word}
          {why !== undefined && ':'}
        </span>
        {why !== undefined && (
          <span className="list-live-why">
            {' '}
            <CutText value={why} max={MAX_CHARS} />
          </span>
        )}
        {isBehind && (
          <span className="list-live-read dim">
            {' · read '}
            <When at={new Date(readAt + api.reach.shown().clockOffsetMs).toISOString()} />
          </span>
        )}
      </span>
      {(stream.at === 'still' || stream.at === 'refused') && (
        <button type="button" className="small" aria-label="Read again" title="Read again" onClick={again}>
          <span className="on-wide">Read again</span>
          <span className="on-narrow">↻</span>
        </button>
      )}
    </>
  );
}
