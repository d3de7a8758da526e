/** The runs of each part of a time as bars: those that completed, failed, and others. The same as text on hover. */
import type { CSSProperties } from 'react';
import { counted } from '../json-view/words.ts';
import { duration } from '../time.ts';
import './statistics.css';
import type { Statistics } from './use-statistics.ts';

export function OverTime({ parts, until }: Pick<Statistics, 'parts' | 'until'>) {
  const most = Math.max(1, ...parts.map(({ runs }) => runs));
  return (
    <figure className="over-time">
      <ol aria-label="Runs over time" style={{ '--parts': parts.length } as CSSProperties}>
        {parts.map(({ from, runs, completed, failed, p95Ms }) => {
          const others = runs - completed - failed;
          const took = p95Ms === undefined ? '' : `, p95 ${duration(p95Ms)}`;
          const text = `${stamp(from)}: ${counted(runs, 'run')}, ${completed} completed, ${failed} failed, ${others} others${took}`;
          return (
            <li key={from} title={text}>
              <span className="visually-hidden">{text}</span>
              <Bar of="others" share={others / most} />
              <Bar of="completed" share={completed / most} />
              <Bar of="failed" share={failed / most} />
            </li>
          );
        })}
      </ol>
      <figcaption className="dim">
        <span>{stamp(parts[0]?.from ?? until)}</span>
        <span>at most {most} in a bar</span>
        <span>{stamp(until)} UTC</span>
      </figcaption>
    </figure>
  );
}

function Bar({ of, share }: { readonly of: string; readonly share: number }) {
  return share > 0 ? <span className={of} style={{ height: `${share * 100}%` }} /> : null;
}

/** `23 Nov 13:05`, UTC. */
function stamp(iso: string): string {
  const at = new Date(iso);
  const day = at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
  return `${day} ${at.toISOString().slice(11, 16)}`;
}
