/** The steps as bars over time. Rows out of view are not drawn. The list beside it contains the same as text. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, useEffect, useMemo, useRef } from 'react';
import { textScale } from '../../../parts/tables/text-scale.ts';
import { duration, roughly } from '../../../parts/time.ts';
import { NameOnLine } from '../../../parts/value-text.tsx';
import { visibleText } from '../../../parts/visible-text.ts';
import { useQueryChange } from '../../../shell/address.ts';
import { ViewLink } from '../header/view-link.tsx';
import { endText, endTone, type TimelineSpan } from '../live/span.ts';
import type { Undone } from '../live/undone.ts';
import type { DispatchBar, Life, TimelineRow } from './model.ts';
import { type Scale, ticksOf, tickText } from './scale.ts';

interface TimelineChartProps {
  readonly rows: readonly TimelineRow[];
  readonly life: Life;
  /** By the key of the step. */
  readonly undone: ReadonlyMap<string, Undone>;
  readonly scale: Scale;
  /** End of bars that are still open; epoch ms. */
  readonly to: number;
  /** Width relative to the frame. */
  readonly zoom: number;
  /** The last rows are in view. */
  onEnd(): void;
}

/** At the default font, px. */
const ROW_PX = 24;
const BEYOND = 12;
/** Least distance of two labels of the axis, as a share of the visible width, with room for a label at the default font. */
const TICKS_APART = 0.11;
const TICK_PX = 56;
/** Greatest share of the width for the names of the steps, as in `timeline.css`. */
const NAMES_SHARE = 0.4;

export function Chart({ rows, life, undone, scale, to, zoom, onEnd }: TimelineChartProps) {
  const frame = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PX * textScale(),
    overscan: BEYOND,
  });
  const shown = virtual.getVirtualItems();
  const frameWidth = virtual.scrollRect?.width;
  const tick = TICK_PX * textScale();
  const apart = frameWidth
    ? Math.max(TICKS_APART, tick / Math.max(tick, frameWidth * (1 - NAMES_SHARE)))
    : TICKS_APART;
  const longest = useMemo(() => longestName(rows), [rows]);
  const isAtEnd = (shown.at(-1)?.index ?? 0) >= rows.length - 1;
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked again whenever there are more rows and the end is in view still
  useEffect(() => {
    if (isAtEnd) onEnd();
  }, [isAtEnd, rows.length]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
    <section className="chart" ref={frame} tabIndex={0} aria-label="Steps over time">
      <div className="chart-inner" style={{ width: `${zoom * 100}%`, '--longest': longest } as CSSProperties}>
        <div className="chart-head">
          <div className="chart-name dim">Since creation</div>
          <div className="chart-lane">
            <Axis scale={scale} from={life.from} apart={apart / zoom} />
          </div>
          <div className="chart-name dim">Dispatches</div>
          <div className="chart-lane">
            {life.dispatches.map((dispatch) => (
              <DispatchBand key={dispatch.epoch} dispatch={dispatch} scale={scale} to={to} />
            ))}
          </div>
        </div>
        <div className="chart-rows" style={{ height: virtual.getTotalSize() }}>
          <div className="chart-lines">
            {scale.segments
              .filter(({ isGap }) => isGap)
              .map(({ from, start, end }) => (
                <span key={from} className="gap" style={placed(start, end)} />
              ))}
            {life.moments.map(({ seq, kind, at, tone, text }) => (
              <span
                key={`${seq} ${kind}`}
                className={`moment ${tone}`}
                data-moment={kind}
                title={text}
                style={placed(scale.at(at))}
              />
            ))}
          </div>
          {shown.map(({ index, start, key }) => {
            const row = rows[index];
            if (!row) return null;
            return <StepRow key={key} row={row} undone={undone} top={start} scale={scale} to={to} />;
          })}
        </div>
      </div>
      <Moments life={life} />
    </section>
  );
}

function Axis({
  scale,
  from,
  apart,
}: {
  readonly scale: Scale;
  readonly from: number;
  readonly apart: number;
}) {
  return (
    <>
      {ticksOf(scale, from, apart).map(({ at, place, step }) => (
        <span key={at} className="tick" style={placed(place)}>
          {tickText(at - from, step)}
        </span>
      ))}
      {scale.segments
        .filter(({ isGap }) => isGap)
        .map((gap) => (
          <span
            key={gap.from}
            className="gap-word"
            style={placed(gap.start, gap.end)}
            title={`Nothing happened for ${duration(gap.to - gap.from)}`}
          >
            {roughly(gap.to - gap.from)}
          </span>
        ))}
    </>
  );
}

const DISPATCH_ENDS: Readonly<Record<DispatchBar['end'], string>> = {
  open: 'running',
  released: 'released',
  suspended: 'until the run waited',
  died: 'worker died',
  ended: 'until the run ended',
  not_loaded: 'its end is not loaded',
};

interface DispatchBandProps {
  readonly dispatch: DispatchBar;
  readonly scale: Scale;
  readonly to: number;
}

function DispatchBand({ dispatch, scale, to }: DispatchBandProps) {
  const until = dispatch.to ?? to;
  const took = dispatch.end === 'not_loaded' ? '' : `${duration(until - dispatch.from)}, `;
  const text = `Dispatch ${dispatch.epoch}, ${took}${DISPATCH_ENDS[dispatch.end]}`;
  return (
    <span
      className={`dispatch ${dispatch.end}`}
      style={placed(scale.at(dispatch.from), scale.at(until))}
      title={text}
      data-dispatch={dispatch.epoch}
    >
      {dispatch.epoch}
      {dispatch.end === 'died' && ' died'}
    </span>
  );
}

interface StepRowProps {
  readonly row: TimelineRow;
  readonly undone: ReadonlyMap<string, Undone>;
  readonly top: number;
  readonly scale: Scale;
  readonly to: number;
}

function StepRow({ row: { key, text, steps, items, isItem }, undone, top, scale, to }: StepRowProps) {
  const change = useQueryChange();
  const undoings = steps.flatMap((step) => undone.get(step.key) ?? []);
  const view = { tab: undefined, step: steps.at(-1)?.key ?? key };
  return (
    <div
      className="chart-row"
      style={{ transform: `translateY(${top}px)`, height: ROW_PX * textScale() }}
      data-step={key}
      data-undone={undoings.length === steps.length ? undoings.at(-1)?.outcome : undefined}
    >
      <div className={isItem ? 'chart-name item' : 'chart-name'} title={visibleText(text)}>
        <ViewLink to={view}>
          <NameOnLine value={text} />
        </ViewLink>
        {items > 0 && <span className="dim"> {isItem ? `×${items}` : items}</span>}
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: for the mouse; the link beside it does the same */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: see above */}
      <div className="chart-lane" onClick={() => change(view)}>
        {steps.flatMap((step) =>
          step.spans.map((span, at) => (
            <Bars
              key={`${step.key} ${span.seq} ${span.from}`}
              span={span}
              next={step.spans[at + 1]}
              scale={scale}
              to={to}
            />
          )),
        )}
        {undoings.map((undoing) => (
          <UndoMark key={undoing.stepId} undoing={undoing} scale={scale} />
        ))}
      </div>
    </div>
  );
}

/** Characters of the longest name, with the number of items behind it. */
function longestName(rows: readonly TimelineRow[]): number {
  let most = 0;
  for (const { text, items, isItem } of rows)
    most = Math.max(most, text.length + (items > 0 ? String(items).length + 2 : 0) + (isItem ? 2 : 0));
  return most;
}

/** Marks the time at which the step was undone, or its undo failed. */
function UndoMark({ undoing: { outcome, at, error }, scale }: UndoMarkProps) {
  const text = outcome === 'failed' ? `Could not be undone: ${error?.message ?? ''}` : 'Undone';
  return (
    <span
      className={`undo-mark ${outcome === 'failed' ? 'bad' : 'quiet'}`}
      style={placed(scale.at(Date.parse(at)))}
      title={text.slice(0, MAX_CHARS)}
    >
      ⟲
    </span>
  );
}

interface UndoMarkProps {
  readonly undoing: Undone;
  readonly scale: Scale;
}

interface BarsProps {
  readonly span: TimelineSpan;
  readonly next: TimelineSpan | undefined;
  readonly scale: Scale;
  readonly to: number;
}

/** A stretch, and the pause until the next attempt. */
function Bars({ span, next, scale, to }: BarsProps) {
  const until = span.to ?? to;
  const again = next?.from ?? span.dueAt;
  const name = span.kind === 'wait' ? 'Wait' : `Attempt ${span.attempt}`;
  const took = span.end === 'not_loaded' ? '' : `, ${duration(Math.max(0, until - span.from))}`;
  return (
    <>
      <span
        className={`bar ${span.kind} tone-${endTone(span.end)}`}
        data-end={span.end ?? 'open'}
        style={placed(scale.at(span.from), scale.at(until))}
        title={`${name}: ${endText(span)}${took}`}
      />
      {(span.end === 'retried' || span.end === 'polled' || span.end === 'deferred') &&
        again !== undefined && (
          <span
            className="bar pause"
            style={placed(scale.at(until), scale.at(again))}
            title={`Retried after ${duration(Math.max(0, again - until))}`}
          />
        )}
    </>
  );
}

/** The legend below the chart. */
function Moments({ life: { moments, from } }: { readonly life: Life }) {
  if (moments.length === 0) return null;
  return (
    <ol className="moments" aria-label="Turning points">
      {moments.slice(-MAX_MOMENTS).map(({ seq, kind, tone, text, at }) => (
        <li key={`${seq} ${kind}`}>
          <span className={tone}>{text.slice(0, MAX_CHARS)}</span>{' '}
          <span className="dim">+{duration(Math.max(0, at - from))}</span>
        </li>
      ))}
    </ol>
  );
}

/** Limit of the moments in the legend; the list of events has all. */
const MAX_MOMENTS = 12;
const MAX_CHARS = 120;

/** Position, from parts of the lane's width. */
function placed(start: number, end?: number): CSSProperties {
  const left = `${(start * 100).toFixed(4)}%`;
  return end === undefined ? { left } : { left, width: `${(Math.max(0, end - start) * 100).toFixed(4)}%` };
}
