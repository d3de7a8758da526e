/** Runs of each period as bars, and below them the durations of completed runs. The same is shown as text on hover and as a table. */
import type { CSSProperties, ReactNode } from 'react';
import { Scrolls } from '../scrolls.tsx';
import { type Column, StackTable } from '../tables/stack-table.tsx';
import { duration } from '../time.ts';
import { countOf } from '../visible-text.ts';
import { type PartShown, partRateText, partText, stamp, timesText } from './parts.ts';
import './statistics.css';
import { shareText } from './words.ts';

export function OverTime({ parts }: { readonly parts: readonly PartShown[] }) {
  const most = Math.max(1, ...parts.map(({ runs }) => runs));
  const longest = Math.max(0, ...parts.map(({ p95Ms = 0 }) => p95Ms));
  return (
    <>
      <Chart
        name="Runs over time"
        parts={parts}
        note={`red failed, green completed, gray live or cancelled; at most ${countOf(most, 'run')} in a bar`}
        of={partText}
      >
        {({ runs, completed, failed }) => (
          <>
            <Bar of="others" share={(runs - completed - failed) / most} />
            <Bar of="completed" share={completed / most} />
            <Bar of="failed" share={failed / most} />
          </>
        )}
      </Chart>
      {longest > 0 && (
        <Chart
          name="Duration over time"
          parts={parts}
          note={`p50 dark, p95 light, at most ${duration(longest)}`}
          of={(part) =>
            `${stamp(part.from)}: ${timesText(part) || 'no run completed'}${part.completed > 0 ? `, of ${part.completed} completed` : ''}`
          }
        >
          {({ p50Ms = 0, p95Ms = 0 }) => (
            <>
              <Bar of="p95" share={(p95Ms - p50Ms) / longest} />
              <Bar of="p50" share={p50Ms / longest} />
            </>
          )}
        </Chart>
      )}
      <PartsTable parts={parts} />
    </>
  );
}

interface PartsChartProps {
  readonly name: string;
  readonly parts: readonly PartShown[];
  readonly note: string;
  readonly children: (part: PartShown) => ReactNode;
  /** Text of a period. */
  of(part: PartShown): string;
}

function Chart({ name, parts, note, of, children }: PartsChartProps) {
  return (
    <figure className="over-time">
      <ol aria-label={name} style={{ '--parts': parts.length } as CSSProperties}>
        {parts.map((part) => (
          <li key={part.from} title={of(part)}>
            <span className="visually-hidden">{of(part)}</span>
            {children(part)}
          </li>
        ))}
      </ol>
      <figcaption className="dim">
        <span>{stamp(parts[0]?.from ?? '')}</span>
        <span>
          {name}: {note}
        </span>
        <span>{stamp(parts.at(-1)?.until ?? '')} UTC</span>
      </figcaption>
    </figure>
  );
}

function Bar({ of, share }: { readonly of: string; readonly share: number }) {
  return share > 0 ? <span className={of} style={{ height: `${share * 100}%` }} /> : null;
}

const COLUMNS: readonly Column<PartShown>[] = [
  { title: 'From, UTC', cell: ({ from }) => stamp(from) },
  { title: 'Runs', label: true, cell: ({ runs }) => runs.toLocaleString('en') },
  { title: 'Started', label: true, cell: partRateText },
  {
    title: 'Failed',
    label: true,
    cell: ({ failureShare }) => shareText(failureShare),
    tone: ({ failed }) => (failed > 0 ? 'bad' : undefined),
  },
  { title: 'p50', label: true, cell: ({ p50Ms }) => (p50Ms === undefined ? '—' : duration(p50Ms)) },
  { title: 'p95', label: true, cell: ({ p95Ms }) => (p95Ms === undefined ? '—' : duration(p95Ms)) },
  { title: 'Of completed', label: true, cell: ({ completed }) => completed.toLocaleString('en') },
];

function PartsTable({ parts }: { readonly parts: readonly PartShown[] }) {
  const rows = parts.filter(({ runs }) => runs > 0);
  return (
    <details>
      <summary>As a table</summary>
      <Scrolls label="Statistics over time">
        <StackTable rows={rows} columns={COLUMNS} keyOf={({ from }) => from} />
      </Scrolls>
    </details>
  );
}
