/** The tab of what the steps stream, and of what they logged, the newest last, by level and step. */
import { useMemo } from 'react';
import { JsonView } from '../../../parts/json-view/json-view.tsx';
import { Empty, Failure, Loading } from '../../../parts/states.tsx';
import { Facts } from '../../../parts/tables/facts.tsx';
import { RowTable } from '../../../parts/tables/row-table.tsx';
import { headOf, visibleText } from '../../../parts/visible-text.ts';
import { When } from '../../../parts/when.tsx';
import { useQueryChange, useQueryState } from '../../../shell/address.ts';
import { ViewLink } from '../header/view-link.tsx';
import { Facet } from '../journal/filter-bar.tsx';
import { stepIdOf } from '../live/events.ts';
import { useRunData } from '../live/run-data.ts';
import type { LogLineView } from './follow-logs.ts';
import { StreamedTexts } from './streamed-texts.tsx';
import { useLogLines } from './use-log-lines.ts';
import './logs.css';

const COLUMNS = ['At (UTC)', 'Level', 'Step', 'Message'];
/** Characters of the text of a row; more does not fit a line. */
const GIST_CHARS = 240;
const LEVELS = [
  ['warn', 'Warnings and errors'],
  ['error', 'Errors'],
] as const;
const TONES: Readonly<Record<string, string>> = { warn: 'warn', error: 'bad' };

interface LogRow {
  readonly key: string;
  readonly line: LogLineView;
}

export function LogsTab() {
  const { id, run, steps } = useRunData();
  const [step] = useQueryState('of');
  const [level] = useQueryState('level');
  const [chosen, choose] = useQueryState('line');
  const change = useQueryChange();
  const { lines, isReading, isWhole, error, again } = useLogLines(id, { step, level });
  const rows = useMemo<LogRow[]>(() => lines.map((line, at) => ({ key: String(at + 1), line })), [lines]);
  const ids = useMemo(() => [...new Set([...steps.keys()].map(stepIdOf))], [steps]);
  const isFiltered = step !== undefined || level !== undefined;
  const filter = (wanted: { of?: string | undefined; level?: string | undefined }) =>
    change({ ...wanted, line: undefined });
  return (
    <div className="stack">
      <div className="row">
        <Facet
          label="Level"
          all="All levels"
          value={level}
          options={LEVELS}
          onChange={(wanted) => filter({ level: wanted })}
        />
        <Facet
          label="Step"
          all="All steps"
          value={step}
          options={ids.map((one) => [one, one] as const)}
          onChange={(of) => filter({ of })}
        />
        {isFiltered && (
          <button type="button" className="plain" onClick={() => filter({ of: undefined, level: undefined })}>
            Show all
          </button>
        )}
      </div>
      <StreamedTexts id={id} step={step} />
      {error !== undefined && <Failure error={error} again={again} />}
      {rows.length > 0 ? (
        <>
          <p className="dim" role="status">
            {countText(rows.length, run?.logs?.dropped ?? 0)}
            {isReading ? ' · reading more' : isWhole ? '' : ' · more are shown as they come'}
          </p>
          <RowTable
            label="Lines, the oldest first"
            className="log-table"
            columns={COLUMNS}
            rows={rows}
            keyOf={({ key }) => key}
            cellsOf={({ line }) => cellsOf(line)}
            wholeOf={({ line }) => <Whole line={line} />}
            chosen={chosen}
            onChoose={(key) => choose(key, 'replace')}
          />
        </>
      ) : (
        error === undefined &&
        (isReading ? <Loading what="the lines" /> : <NoLines isFiltered={isFiltered} />)
      )}
    </div>
  );
}

function countText(lines: number, dropped: number): string {
  const shown = `${lines} ${lines === 1 ? 'line' : 'lines'}`;
  return dropped === 0 ? shown : `${shown} · ${dropped} more of the run were not kept`;
}

function NoLines({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No matching lines" />;
  return (
    <Empty title="The steps logged nothing">
      <p>
        What a step writes with <code>log(…)</code>, <code>log.warn(…)</code> or <code>log.error(…)</code> is
        listed here within three seconds.
      </p>
    </Empty>
  );
}

function cellsOf({ at, level, step, attempt, undoes, message }: LogLineView) {
  return [
    <time key="at" className="dim" dateTime={at} title={at}>
      {at.slice(11, 23)}
    </time>,
    <span key="level" className={TONES[level] ?? 'dim'}>
      {level}
    </span>,
    <bdi key="step">
      {visibleText(step)}
      {attempt > 1 && ` #${attempt}`}
      {undoes && ' (undo)'}
    </bdi>,
    <bdi key="message" className={TONES[level]}>
      {visibleText(headOf(message, GIST_CHARS))}
    </bdi>,
  ];
}

function Whole({
  line: { at, step, attempt, revision, message, fields, cut },
}: {
  readonly line: LogLineView;
}) {
  return (
    <>
      <pre className="log-message">{visibleText(message)}</pre>
      {fields && <JsonView value={fields} label="Fields of the line" />}
      <Facts
        facts={[
          ['At', <When key="at" at={at} exact />],
          ['Attempt', attempt],
          ['Revision', revision > 1 ? revision : undefined],
          ['Length', cut && 'longer than what is kept'],
        ]}
      />
      <p className="row">
        <ViewLink to={{ of: step, line: undefined }}>All lines of {visibleText(step)}</ViewLink>
        <ViewLink to={{ tab: 'overview', step, of: undefined, line: undefined }}>In the graph</ViewLink>
      </p>
    </>
  );
}
