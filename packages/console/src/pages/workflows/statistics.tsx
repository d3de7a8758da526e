/** Statistics of the runs of one workflow within a time range: rate, failures, durations, by version and over time. */
import { usdText } from '../../parts/cost-text.ts';
import { type NamedReading, Readings } from '../../parts/readings/readings.tsx';
import { Scrolls } from '../../parts/scrolls.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Failure, Loading } from '../../parts/states.tsx';
import { Causes } from '../../parts/statistics/causes.tsx';
import { OverTime } from '../../parts/statistics/over-time.tsx';
import { partsOf } from '../../parts/statistics/parts.ts';
import { type Figures, type Statistics, useStatistics } from '../../parts/statistics/use-statistics.ts';
import { rateText, shareText } from '../../parts/statistics/words.ts';
import { type Column, StackTable } from '../../parts/tables/stack-table.tsx';
import { duration } from '../../parts/time.ts';
import { countOf } from '../../parts/visible-text.ts';
import { When } from '../../parts/when.tsx';
import { useQueryState } from '../../shell/address.ts';
import { changedQuery } from '../../shell/query-text.ts';
import { causeQuery, isSpan, NAMES, SPANS, type SpanWord, startOf } from '../runs/filter/filter.ts';

const USUAL: SpanWord = '24h';

export function WorkflowStatistics({ type }: { readonly type: string }) {
  const [requestedSpan, setAsked] = useQueryState('span');
  const span = requestedSpan !== undefined && isSpan(requestedSpan) ? requestedSpan : USUAL;
  const { data, error, refetch } = useStatistics({ type }, { span, sinceOf: (now) => startOf(span, now) });
  return (
    <section className="card stack" aria-label="Statistics">
      <div className="row between">
        <h2>Runs of the {SPANS[span].name}</h2>
        <Segments
          label="Time"
          names={Object.keys(SPANS)}
          chosen={span}
          onChoose={(word) => setAsked(word === USUAL ? undefined : word, 'replace')}
        />
      </div>
      {error && !data && <Failure error={error} again={() => void refetch()} />}
      {!error && !data && <Loading what="the statistics" />}
      {data && <Shown of={data} />}
    </section>
  );
}

const ALL = 'all versions';
/** Limit of the versions in the choice, which fit one line; the newest are kept. */
const MAX_VERSIONS = 6;

function nameOf({ planVersion }: Statistics['versions'][number]): string {
  return `v${planVersion}`;
}

function Shown({ of }: { readonly of: Statistics }) {
  const { total, versions, causes, isCut, from, unreadable } = of;
  const [requestedVersion, setAsked] = useQueryState('version');
  const shown = versions.find((version) => nameOf(version) === requestedVersion);
  if (total.runs === 0) return <p className="dim">No run was created in this time.</p>;
  return (
    <>
      {isCut && (
        <p className="note">
          There were more than {total.runs.toLocaleString('en')} runs. These are the newest, created since{' '}
          <When at={from} />.
        </p>
      )}
      {unreadable > 0 && <p className="note">{unreadable} runs with damaged documents are not counted.</p>}
      <Readings of={readings(of)} />
      {versions.length > 1 && (
        <Segments
          label="Version of the charts"
          names={[ALL, ...versions.slice(0, MAX_VERSIONS).map(nameOf)]}
          chosen={shown ? nameOf(shown) : ALL}
          onChoose={(name) => setAsked(name === ALL ? undefined : name, 'replace')}
        />
      )}
      <OverTime parts={partsOf(of, shown?.planVersion)} />
      {isCut && <p className="hint">A sample: the newest {total.runs.toLocaleString('en')} runs.</p>}
      {versions.length > 1 && <Versions of={of} />}
      {causes.length > 0 && (
        <Scrolls label="Failures by cause">
          <h3>Failures by cause</h3>
          <Causes
            causes={causes}
            withType={false}
            hrefOf={(cause) => `/runs?${changedQuery('', { ...causeQuery(cause), [NAMES.since]: from })}`}
          />
        </Scrolls>
      )}
    </>
  );
}

/** Figures of each version. Rates refer to the whole time range, even if a version was deployed late in it. */
function Versions({ of: { versions, from, until } }: { readonly of: Statistics }) {
  const columns: readonly Column<Statistics['versions'][number]>[] = [
    { title: 'Version', cell: ({ planVersion }) => `v${planVersion}` },
    { title: 'Runs', label: true, cell: ({ runs }) => runs.toLocaleString('en') },
    { title: 'Started', label: true, cell: (version) => rateText({ from, until, total: version }) },
    {
      title: 'Failed',
      label: true,
      cell: ({ completed, failed, failureShare }) =>
        `${shareText(failureShare)}${failed > 0 ? `, ${failed} of ${(completed + failed).toLocaleString('en')}` : ''}`,
      tone: ({ failed }) => (failed > 0 ? 'bad' : undefined),
    },
    { title: 'p50', label: true, cell: ({ p50Ms }) => timeText(p50Ms) },
    { title: 'p95', label: true, cell: ({ p95Ms }) => timeText(p95Ms) },
    { title: 'Cost of a run', label: true, cell: ({ cost, runs }) => usdText(cost.usd / runs) },
  ];
  return (
    <Scrolls label="Statistics by version">
      <StackTable rows={versions} columns={columns} keyOf={({ planVersion }) => planVersion} />
    </Scrolls>
  );
}

function readings(of: Statistics): readonly NamedReading[] {
  const { runs, completed, failed, cancelled, live, failureShare, p50Ms, p95Ms, cost } = of.total;
  return [
    { name: 'Started', value: rateText(of), more: `${countOf(runs, 'run')}, ${live} live` },
    {
      name: 'Failed',
      value: shareText(failureShare),
      more: `${failed} of ${completed + failed}${cancelled > 0 ? `, ${cancelled} cancelled` : ''}`,
      isWrong: failed > 0,
    },
    { name: 'Duration, p50', value: timeText(p50Ms), more: 'of completed runs, waits included' },
    { name: 'Duration, p95', value: timeText(p95Ms) },
    { name: 'Cost of a run', value: usdText(cost.usd / runs), more: `${usdText(cost.usd)} for all` },
  ];
}

function timeText(ms: Figures['p50Ms']): string {
  return ms === undefined ? '—' : duration(ms);
}
