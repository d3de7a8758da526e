/** The tab of the run's checkpoints: the output of each step, and the difference of two outputs. */
import { useEffect } from 'react';
import { Empty, Failure, Loading } from '../../../parts/states.tsx';
import { Status } from '../../../parts/status.tsx';
import { RowTable } from '../../../parts/tables/row-table.tsx';
import { duration } from '../../../parts/time.ts';
import { usePages } from '../../../parts/use-pages.ts';
import { visibleText } from '../../../parts/visible-text.ts';
import { When } from '../../../parts/when.tsx';
import { useSession } from '../../../session/session.ts';
import { useQueryState } from '../../../shell/address.ts';
import { useRunData } from '../live/run-data.ts';
import { CheckpointDetail } from './checkpoint-detail.tsx';
import { Comparison } from './comparison.tsx';
import { boundaryWords, type CheckpointView, checkpointStepKey, comparedOf, tokenWords } from './words.ts';
import './checkpoints.css';

/** Each may carry 256 KiB. */
const PAGE = '25';
const COLUMNS = ['Seq', 'Of', 'Revision', 'Outcome', 'By', 'Tokens', 'Took', 'When'];

export function CheckpointsTab() {
  const { id, run, head } = useRunData();
  const { api } = useSession();
  const [chosen, choose] = useQueryState('checkpoint');
  const [compare] = useQueryState('compare');
  const pages = usePages({
    queryKey: ['run', id, 'checkpoints'],
    read: (cursor, signal) =>
      api.get('/v1/runs/{id}/checkpoints', {
        params: { id },
        query: { limit: PAGE, cursor },
        signal,
      }),
    version: run?.checkpointHead,
    isAppendOnly: true,
  });
  const { items, hasMore, loadMore } = pages;
  const last = items.at(-1)?.seq ?? 0;
  const isAhead = chosen !== undefined && Number(chosen) > last && Number(chosen) <= head;
  // The checkpoint that the address names may be on a later page.
  useEffect(() => {
    if (isAhead && hasMore && last > 0) loadMore();
  }, [isAhead, hasMore, last, loadMore]);
  if (pages.isFirstLoading) return <Loading what="the checkpoints" />;
  if (pages.error && items.length === 0) return <Failure error={pages.error} again={pages.again} />;
  if (items.length === 0) {
    return (
      <Empty title="There is no checkpoint yet">
        <p>The first is made when the run starts; then one as each step ends.</p>
      </Empty>
    );
  }
  const compared = comparedOf(compare);
  return (
    <div className="stack">
      {compared && <Comparison compared={compared} all={items} key={compare} />}
      {pages.error !== null && <Failure error={pages.error} again={pages.again} />}
      <RowTable
        label="Checkpoints, the oldest first"
        className="checkpoint-table"
        columns={COLUMNS}
        rows={items}
        keyOf={({ seq }) => String(seq)}
        cellsOf={cellsOf}
        wholeOf={(checkpoint) => <CheckpointDetail checkpoint={checkpoint} all={items} />}
        chosen={chosen}
        onChoose={(seq) => choose(seq, 'replace')}
        onNearEnd={loadMore}
      />
      {hasMore && <p className="hint">More are loaded as you scroll.</p>}
    </div>
  );
}

function cellsOf(checkpoint: CheckpointView) {
  const { seq, revision, outcome, agent, durationMs, at } = checkpoint;
  const key = checkpointStepKey(checkpoint);
  return [
    seq,
    key === undefined ? (
      <span key="of" className="dim">
        {boundaryWords(checkpoint)}
      </span>
    ) : (
      <bdi key="of">{visibleText(key)}</bdi>
    ),
    revision,
    outcome && <Status key="outcome" status={outcome} />,
    agent !== undefined && <bdi key="agent">{visibleText(agent)}</bdi>,
    tokenWords(checkpoint),
    durationMs === undefined ? '' : duration(durationMs),
    <span key="when" className="dim">
      <When at={at} />
    </span>,
  ];
}
