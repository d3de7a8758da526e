/** One run as a row. Values from data are isolated text. */
import { type MouseEvent, memo } from 'react';
import { Link } from 'wouter';
import { copyTitle, copyWords, useCopy } from '../../../parts/copy/use-copy.ts';
import { operationsText, usdText } from '../../../parts/cost-text.ts';
import { Status } from '../../../parts/status.tsx';
import { visibleText } from '../../../parts/visible-text.ts';
import { Took, When } from '../../../parts/when.tsx';
import { useQueryChange } from '../../../shell/address.ts';
import { NAMES } from '../filter/filter.ts';
import { nowText, type RunRow } from '../row.ts';
import { OPTIONAL_COLUMNS } from '../view/columns.ts';
import { Cell, Row } from './grid-parts.tsx';

export const COLUMNS = [
  { name: 'c-choose', title: 'Chosen' },
  { name: 'c-status', title: 'Status' },
  { name: 'c-run', title: 'Run' },
  ...Object.entries(OPTIONAL_COLUMNS).map(([column, title]) => ({ name: `c-${column}`, title })),
];

/** `run_` and enough characters to distinguish the rows of one page. */
const SHORT_ID = 14;

export function rowElementId(id: string): string {
  return `row-${id}`;
}

interface RowViewProps {
  /** Undefined: it is being read. */
  readonly row: RunRow | undefined;
  readonly index: number;
  /** The reason why queued runs of the workflow wait; undefined if only for a worker. */
  readonly stop: string | undefined;
  /** Position within the rows, px. */
  readonly top: number;
  readonly isActive: boolean;
  readonly isChosen: boolean;
  onToggle(row: RunRow, isRange: boolean): void;
  onActive(id: string): void;
  onOpen(id: string): void;
}

export function RowView({
  row,
  stop,
  index,
  top,
  isActive,
  isChosen,
  onToggle,
  onActive,
  onOpen,
}: RowViewProps) {
  const place = { transform: `translateY(${top}px)` };
  if (!row) {
    return (
      <Row className="run-row coming" aria-rowindex={index + 2} style={place}>
        <Cell>Loading…</Cell>
      </Row>
    );
  }
  return (
    <Row
      id={rowElementId(row.id)}
      className={`run-row${isActive ? ' active' : ''}`}
      aria-rowindex={index + 2}
      aria-selected={isChosen}
      style={place}
      // The focus stays on the grid, because this row may be removed from the page.
      onMouseDown={(event) => {
        onActive(row.id);
        if (event.shiftKey) event.preventDefault();
      }}
      onClick={(event) => isClickOnRow(event) && onOpen(row.id)}
    >
      <Cell className="c-choose">
        <input
          type="checkbox"
          tabIndex={-1}
          checked={isChosen}
          aria-label={`Choose ${row.id}`}
          onMouseDown={(event) => event.preventDefault()}
          onClick={(event) => onToggle(row, event.shiftKey)}
          onChange={nothing}
        />
      </Cell>
      <Cells row={row} stop={stop} />
    </Row>
  );
}

/** False for a click on a control of the row or beside its checkbox, with a modifier, and at the end of a selection of text. */
function isClickOnRow(event: MouseEvent<HTMLElement>): boolean {
  if (event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return false;
  const isOnControl =
    event.target instanceof Element && event.target.closest('a, button, .c-choose') !== null;
  return !isOnControl && getSelection()?.isCollapsed !== false;
}

/** Ignores the change, because only the click event says whether Shift was held. */
function nothing(): void {}

const Cells = memo(function Cells({ row, stop }: { readonly row: RunRow } & Pick<RowViewProps, 'stop'>) {
  const now = visibleText(nowText(row, stop));
  return (
    <>
      <Cell className="c-status">
        <Status status={row.status} />
        {row.mark !== undefined && <small>{row.mark}</small>}
      </Cell>
      <Cell className="c-run">
        <Link href={`/runs/${row.id}`} tabIndex={-1}>
          <bdi>{visibleText(row.type)}</bdi>
        </Link>
        <small>
          <Id id={row.id} /> · v{row.planVersion}
          {row.isChild && ' · child'}
          {row.madeBy !== undefined && ` · ${row.madeBy}`}
        </small>
      </Cell>
      <About row={row} />
      <Cell className="c-trigger">
        {row.source}
        {row.actor !== undefined && (
          <small title={row.actor}>
            <bdi>{visibleText(row.actor)}</bdi>
          </small>
        )}
      </Cell>
      <Cell className="c-time">
        <When at={row.startedAt ?? row.createdAt} />
        <small>
          <Took run={row} />
        </small>
      </Cell>
      <Cell className="c-steps">
        {row.begun > 0 && <span title={stepsText(row)}>{row.done.toLocaleString('en')} done</span>}
        {row.cost && <small title={operationsText(row.cost)}>{usdText(row.cost.usd)}</small>}
      </Cell>
      <Cell className="c-now" title={now}>
        <bdi className={row.status === 'failed' ? 'bad' : ''}>{now}</bdi>
      </Cell>
    </>
  );
});

/** `4 done, 1 failed, of 6 begun`. */
function stepsText({ done, failed, skipped, begun }: RunRow): string {
  const notes = Object.entries({ failed, skipped }).filter(([, count]) => count > 0);
  const noted = notes.map(([name, count]) => `, ${count} ${name}`).join('');
  return `${done} done${noted}${noted && ','} of ${begun} begun`;
}

/** A shortened id with the whole id on hover. A click copies it. */
function Id({ id }: { readonly id: string }) {
  const { outcome, copy, forget } = useCopy();
  return (
    <button
      type="button"
      className="id mono"
      tabIndex={-1}
      title={copyTitle(outcome, `${id} (click copies)`)}
      onClick={() => copy(id)}
      onMouseLeave={forget}
    >
      {outcome === 'none' ? `${id.slice(0, SHORT_ID)}…` : copyWords(outcome, '').toLowerCase()}
    </button>
  );
}

function About({ row }: { readonly row: RunRow }) {
  const { repoId, prId, prUrl, threadId, tags, id } = row;
  const pull = prId === undefined ? undefined : (/#?(\d+)$/.exec(prId)?.[1] ?? prId);
  return (
    <Cell className="c-about">
      <span className="line">
        {repoId !== undefined && <Narrow name="repoId" value={repoId} />}
        {pull !== undefined &&
          (prUrl === undefined ? (
            <bdi>#{visibleText(pull)}</bdi>
          ) : (
            <a href={prUrl} rel="noreferrer noopener" target="_blank" tabIndex={-1} title={prUrl}>
              #<bdi>{visibleText(pull)}</bdi>
            </a>
          ))}
      </span>
      {(threadId !== id || tags.length > 0) && (
        <small>
          {threadId !== id && <Narrow name="threadId" value={threadId} />}
          {tags.map((tag) => (
            <Narrow key={tag} name="tag" value={tag} />
          ))}
        </small>
      )}
    </Cell>
  );
}

/** A value that becomes the filter on click. */
function Narrow({ name, value }: { readonly name: 'repoId' | 'threadId' | 'tag'; readonly value: string }) {
  const change = useQueryChange();
  return (
    <button
      type="button"
      className="narrow"
      tabIndex={-1}
      title={`${visibleText(value)} (click shows only these)`}
      onClick={() => change({ [NAMES[name]]: value })}
    >
      <bdi>{visibleText(value)}</bdi>
    </button>
  );
}
