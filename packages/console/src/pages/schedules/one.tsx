/** One schedule: next slots, last outcome, input and actions. */
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { Answer } from '../../api/client.ts';
import { refusalOf } from '../../api/problem.ts';
import { CronText } from '../../parts/cron/text.tsx';
import { ActionDialog } from '../../parts/dialog/action-dialog.tsx';
import { ReasonDialog } from '../../parts/dialog/reason-dialog.tsx';
import { GuardedRow } from '../../parts/guarded-button.tsx';
import { JsonView } from '../../parts/json-view/json-view.tsx';
import { inZone } from '../../parts/local-time.ts';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { CutText, Text } from '../../parts/value-text.tsx';
import { When } from '../../parts/when.tsx';
import { useAnswer } from '../../session/use-answer.ts';
import { StopNote } from '../workflows/stop-note.tsx';
import { CATCH_UPS, deleteSchedule, pauseSchedule, resumeSchedule, triggerSchedule } from './acts.ts';
import { Backfill } from './backfill.tsx';
import { ScheduleForm } from './form.tsx';
import { LastOutcome } from './last-outcome.tsx';
import { type ScheduleAct, scheduleOffers } from './offers.ts';

/** Polling interval, as for the list beside it. */
const EVERY_MS = 30_000;

export function OneSchedule({ id }: { readonly id: string }) {
  const [doing, setDoing] = useState<ScheduleAct>();
  const { data, error, refetch } = useAnswer(
    '/v1/schedules/{id}',
    { params: { id } },
    { refetchInterval: EVERY_MS },
  );
  const isUnknown = refusalOf(error)?.code === 'NOT_FOUND';
  const failure =
    error && (isUnknown ? <NoSuchSchedule /> : <Failure error={error} again={() => void refetch()} />);
  if (!data) return failure ?? <Loading what="the schedule" />;
  const { cron, timezone, upcoming, slots, pause, lastCatchUp, catchUp, input, state, last } = data;
  return (
    <section className="card stack" aria-label="The chosen schedule">
      {failure}
      <h2>
        <Text value={data.name ?? id} max={200} />
      </h2>
      <GuardedRow
        label="What can be done with the schedule"
        least="operator"
        offers={scheduleOffers(data).map((offer) => ({ ...offer, onClick: () => setDoing(offer.act) }))}
      />
      <dl className="facts">
        <dt>Starts</dt>
        <dd>
          <Link href={`/workflows/${encodeURIComponent(data.type)}`}>
            <CutText value={data.type} max={200} />
          </Link>
        </dd>
        <dt>When</dt>
        <dd>
          <CronText cron={cron} timezone={timezone} />
        </dd>
        <dt>Next slots</dt>
        <dd>
          {state !== 'active' || upcoming.length === 0 ? (
            <span className="dim">none: it is {state}</span>
          ) : (
            <ol className="slots">
              {upcoming.map((slot) => (
                <li key={slot}>
                  {inZone(slot, timezone)}{' '}
                  <span className="dim">
                    <When at={slot} />
                  </span>
                </li>
              ))}
            </ol>
          )}
        </dd>
        <dt>Last slot</dt>
        <dd>
          <LastOutcome last={last} />
          {last?.error && (
            <p>
              <Text value={last.error.message} />
            </p>
          )}
        </dd>
        <dt>Slots so far</dt>
        <dd>
          {slots.fired} fired, {slots.skipped} skipped, {slots.refused} refused
        </dd>
        <dt>Missed slots</dt>
        <dd>
          {CATCH_UPS[catchUp]}
          {lastCatchUp && (
            <>
              ; {lastCatchUp.missed}
              {lastCatchUp.more ? '+' : ''} were missed and {lastCatchUp.made} caught up{' '}
              <When at={lastCatchUp.at} />
            </>
          )}
        </dd>
        {pause && (
          <>
            <dt>Paused</dt>
            <dd>
              <When at={pause.since} /> by <Text value={pause.by} max={200} />
              {pause.reason && (
                <>
                  : <Text value={pause.reason} />
                </>
              )}
            </dd>
          </>
        )}
      </dl>
      <div>
        <h3>Input of its runs</h3>
        <JsonView value={input} label="Input of its runs" />
      </div>
      {doing && <Doings id={id} doing={doing} schedule={data} onClose={() => setDoing(undefined)} />}
    </section>
  );
}

function NoSuchSchedule() {
  return (
    <Empty title="Schedule not found">
      <p>Your tenant has no schedule with this id. It may have been deleted, or belong to another tenant.</p>
      <p>
        See <Link href="/schedules">all schedules</Link>.
      </p>
    </Empty>
  );
}

/** Limit of the API. */
const MAX_REASON = 500;

interface DoingsProps {
  readonly id: string;
  readonly doing: ScheduleAct;
  readonly schedule: Answer<'Schedule'>;
  onClose(): void;
}

function Doings({ id, doing, schedule, onClose }: DoingsProps) {
  const [, navigate] = useLocation();
  switch (doing) {
    case 'pause':
      return (
        <ReasonDialog
          title="Pause the schedule"
          verb="Pause"
          plan={(reason) => pauseSchedule(id, reason)}
          most={MAX_REASON}
          onClose={onClose}
        >
          <p>No slot starts a run until it is resumed. Running runs continue.</p>
        </ReasonDialog>
      );
    case 'resume':
      return (
        <ActionDialog title="Resume the schedule" verb="Resume" act={resumeSchedule(id)} onClose={onClose}>
          <p>Slots during the pause are not caught up; use backfill.</p>
        </ActionDialog>
      );
    case 'trigger':
      return (
        <ActionDialog
          title="Start one run now"
          verb="Start"
          act={triggerSchedule(id)}
          onDone={({ runId }) => navigate(`/runs/${runId}`)}
          onClose={onClose}
        >
          <p>One run with the input of the schedule, outside its slots.</p>
          <StopNote types={[schedule.type]} />
        </ActionDialog>
      );
    case 'delete':
      return (
        <ActionDialog
          title="Delete the schedule"
          verb="Delete"
          danger
          act={deleteSchedule(id)}
          onDone={() => navigate('/schedules')}
          onClose={onClose}
        >
          <p>Its runs stay.</p>
        </ActionDialog>
      );
    case 'backfill':
      return <Backfill id={id} type={schedule.type} onClose={onClose} />;
    case 'change':
      return <ScheduleForm schedule={schedule} onClose={onClose} />;
  }
}
