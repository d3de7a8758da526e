/** The events of a run, one line each: time and text. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { textScale } from '../../../parts/tables/text-scale.ts';
import { duration } from '../../../parts/time.ts';
import { visibleText } from '../../../parts/visible-text.ts';
import { ViewLink } from '../header/view-link.tsx';
import type { RunEvent } from '../live/events.ts';
import { lineOf } from './words.ts';

interface EventListProps {
  readonly events: readonly RunEvent[];
  /** Origin of the times; epoch ms. */
  readonly from: number;
  onEnd(): void;
}

/** At the default font, px. */
const LINE_PX = 26;
const BEYOND = 12;
/** Characters of a line; the journal has all of it. */
const MAX_CHARS = 160;

export function EventList({ events, from, onEnd }: EventListProps) {
  const frame = useRef<HTMLElement>(null);
  const lineHeight = LINE_PX * textScale();
  const virtual = useVirtualizer({
    count: events.length,
    getScrollElement: () => frame.current,
    estimateSize: () => lineHeight,
    overscan: BEYOND,
  });
  const shown = virtual.getVirtualItems();
  const isAtEnd = (shown.at(-1)?.index ?? 0) >= events.length - 1;
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked again whenever there are more events and the end is in view still
  useEffect(() => {
    if (isAtEnd) onEnd();
  }, [isAtEnd, events.length]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
    <section className="event-list" ref={frame} tabIndex={0} aria-label="What happened, in words">
      <ol style={{ height: virtual.getTotalSize() }}>
        {shown.map(({ index, start, key }) => {
          const event = events[index];
          return event ? (
            <li
              key={key}
              style={{ transform: `translateY(${start}px)`, height: lineHeight }}
              aria-posinset={index + 1}
              aria-setsize={events.length}
            >
              <EventLine event={event} from={from} />
            </li>
          ) : null;
        })}
      </ol>
    </section>
  );
}

function EventLine({ event, from }: { readonly event: RunEvent; readonly from: number }) {
  const { mark, tone, text, more } = lineOf(event);
  const shownText = visibleText(text.slice(0, MAX_CHARS));
  const rest = more === undefined ? undefined : visibleText(more.slice(0, MAX_CHARS));
  return (
    <>
      <ViewLink to={{ tab: 'journal', seq: String(event.seq) }} className="event-when">
        +{duration(Math.max(0, Date.parse(event.at) - from))}
      </ViewLink>
      <span className={tone} aria-hidden="true">
        {mark}
      </span>
      <span className="event-text" title={rest === undefined ? shownText : `${shownText} — ${rest}`}>
        <bdi className={tone}>{shownText}</bdi>
        {rest !== undefined && <bdi className="dim"> {rest}</bdi>}
      </span>
    </>
  );
}
