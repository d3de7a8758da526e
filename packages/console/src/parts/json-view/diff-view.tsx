/** Differences of two JSON values, side by side or one below the other. */
import { Fragment, useMemo, useState } from 'react';
import { Text } from '../value-text.tsx';
import { countOf } from '../visible-text.ts';
import { difference, type JsonChange, MAX_CHANGES } from './diff.ts';
import { matched } from './matched.ts';
import { stepText } from './tree.ts';
import './diff-view.css';

export type DiffLayout = 'side' | 'unified';

interface DiffViewProps {
  readonly before: { readonly name: string; readonly value: unknown };
  readonly after: { readonly name: string; readonly value: unknown };
  readonly layout: DiffLayout;
}

/** Differences shown until more are requested. */
const SHOWN = 100;
/** Characters of a value that was added or removed as a whole. */
const VALUE_CHARS = 1_000;

export function DiffView({ before, after, layout }: DiffViewProps) {
  const { changes, isCut } = useMemo(
    () => difference(before.value, after.value),
    [before.value, after.value],
  );
  const [shown, setShown] = useState(SHOWN);
  if (changes.length === 0) return <p className="dim">Both are the same.</p>;
  const seen = changes.slice(0, shown);
  return (
    <div className="diff">
      <p className="dim">
        {countOf(changes.length, 'difference')}
        {isCut && ` and more: only the first ${MAX_CHANGES} are shown`}
      </p>
      {layout === 'side' ? (
        <SideBySide changes={seen} names={[before.name, after.name]} />
      ) : (
        <Unified changes={seen} />
      )}
      {shown < changes.length && (
        <button type="button" onClick={() => setShown(shown + MAX_CHANGES)}>
          Show {countOf(changes.length - shown, 'more difference')}
        </button>
      )}
    </div>
  );
}

interface SideProps {
  readonly changes: readonly JsonChange[];
  readonly names: readonly [string, string];
}

function SideBySide({ changes, names }: SideProps) {
  return (
    <table className="diff-side">
      <thead>
        <tr>
          <th scope="col">Where</th>
          <th scope="col">{names[0]}</th>
          <th scope="col">{names[1]}</th>
        </tr>
      </thead>
      <tbody>
        {changes.map((change, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two differences may have one path, and their order is fixed
          <tr key={at} data-change={change.kind}>
            <th scope="row">
              <Where change={change} />
            </th>
            <td className="diff-before">{'before' in change && <Value value={change.before} />}</td>
            <td className="diff-after">{'after' in change && <Value value={change.after} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Unified({ changes }: { readonly changes: readonly JsonChange[] }) {
  return (
    <div className="diff-unified">
      {changes.map((change, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two differences may have one path, and their order is fixed
        <div key={at} data-change={change.kind}>
          <Where change={change} />
          {linesOf(change).map(({ mark, text }, line) => (
            <div
              // biome-ignore lint/suspicious/noArrayIndexKey: lines repeat, and their order is fixed
              key={line}
              className={mark === '-' ? 'diff-before' : mark === '+' ? 'diff-after' : undefined}
            >
              <span className="diff-mark">{mark === ' ' ? ' ' : mark === '-' ? '−' : '+'}</span>
              <Text value={text} max={VALUE_CHARS} />
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}

const KINDS: Readonly<Record<JsonChange['kind'], string>> = {
  added: 'added',
  removed: 'removed',
  changed: 'changed',
};

function Where({ change }: { readonly change: JsonChange }) {
  const path = `$${change.path.map(stepText).join('')}`;
  return (
    <Fragment>
      <code>
        <Text value={path} max={300} />
      </code>{' '}
      <span className="dim">{KINDS[change.kind]}</span>
    </Fragment>
  );
}

function Value({ value }: { readonly value: unknown }) {
  return (
    <code>
      <Text value={textOf(value)} max={VALUE_CHARS} />
    </code>
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);
}

interface DiffLine {
  readonly mark: ' ' | '-' | '+';
  readonly text: string;
}

/** A changed text of several lines is shown line by line. */
function linesOf(change: JsonChange): readonly DiffLine[] {
  if (change.kind === 'added') return [{ mark: '+', text: textOf(change.after) }];
  if (change.kind === 'removed') return [{ mark: '-', text: textOf(change.before) }];
  const before = textOf(change.before).split('\n');
  const after = textOf(change.after).split('\n');
  const lines: DiffLine[] = [];
  let left = 0;
  let right = 0;
  for (const [l, r] of [...matched(before, after), [before.length, after.length] as const]) {
    lines.push(...before.slice(left, l).map((text): DiffLine => ({ mark: '-', text })));
    lines.push(...after.slice(right, r).map((text): DiffLine => ({ mark: '+', text })));
    const same = before[l];
    if (same !== undefined) lines.push({ mark: ' ', text: same });
    left = l + 1;
    right = r + 1;
  }
  return lines;
}
