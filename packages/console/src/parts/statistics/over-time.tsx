/** Runs of each part of a time as bars, and below them how long completed ones took. The same as text on hover, and as a table. */
import type { CSSProperties, ReactNode } from 'react';
import { countOf } from '../json-view/words.ts';
import { Scrolls } from '../scrolls.tsx';
import { duration } from '../time.ts';
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
  /** Text of a part. */
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

function PartsTable({ parts }: { readonly parts: readonly PartShown[] }) {
  return (
    <details>
      <summary>As a table</summary>
      <Scrolls label="Statistics over time">
        <table className="stacks">
          <thead>
            <tr>
              <th>From, UTC</th>
              <th>Runs</th>
              <th>Started</th>
              <th>Failed</th>
              <th>p50</th>
              <th>p95</th>
              <th>Of completed</th>
            </tr>
          </thead>
          <tbody>
            {parts
              .filter(({ runs }) => runs > 0)
              .map((part) => (
                <tr key={part.from}>
                  <td>{stamp(part.from)}</td>
                  <td data-label="Runs">{part.runs.toLocaleString('en')}</td>
                  <td data-label="Started">{partRateText(part)}</td>
                  <td data-label="Failed" className={part.failed > 0 ? 'bad' : undefined}>
                    {shareText(part.failureShare)}
                  </td>
                  <td data-label="p50">{part.p50Ms === undefined ? '—' : duration(part.p50Ms)}</td>
                  <td data-label="p95">{part.p95Ms === undefined ? '—' : duration(part.p95Ms)}</td>
                  <td data-label="Of completed">{part.completed.toLocaleString('en')}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </Scrolls>
    </details>
  );
}
