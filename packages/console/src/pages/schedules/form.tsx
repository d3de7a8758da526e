/** Form that creates or changes a schedule. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Answer } from '../../api/client.ts';
import { cronWords } from '../../parts/cron/words.ts';
import { ActionDialog } from '../../parts/dialog/action-dialog.tsx';
import { JsonInput } from '../../parts/json-view/json-input.tsx';
import { readJson } from '../../parts/json-view/json-text.ts';
import { useSession } from '../../session/session.ts';
import { CATCH_UPS, type CatchUpMode, changeSchedule, makeSchedule } from './acts.ts';

interface ScheduleFormProps {
  /** The one to change; undefined: a new one. */
  readonly schedule?: Answer<'Schedule'>;
  onClose(): void;
}

export function ScheduleForm({ schedule, onClose }: ScheduleFormProps) {
  const { api } = useSession();
  const [, navigate] = useLocation();
  const { data: workflows } = useQuery({
    queryKey: ['workflows', 'summary'],
    queryFn: ({ signal }) => api.get('/v1/workflows', { query: { summary: true }, signal }),
  });
  const [type, setType] = useState(schedule?.type ?? '');
  const [name, setName] = useState(schedule?.name ?? '');
  const [cron, setCron] = useState(schedule?.cron ?? '0 9 * * *');
  const [timezone, setTimezone] = useState(
    schedule?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  );
  const [catchUp, setCatchUp] = useState<CatchUpMode>(schedule?.catchUp ?? 'latest');
  const [input, setInput] = useState(JSON.stringify(schedule?.input ?? {}, undefined, 2));
  const typed = readJson(input);
  const isWhole = type !== '' && cron.trim() !== '' && timezone.trim() !== '' && typed.kind === 'value';
  const wanted = isWhole
    ? { type, name: name.trim(), cron: cron.trim(), timezone: timezone.trim(), catchUp, input: typed.value }
    : undefined;
  const change = wanted && schedule && changeSchedule(schedule, wanted);
  const made = wanted && !schedule && makeSchedule(wanted);
  const fields = (
    <>
      {!schedule && (
        <label className="field">
          Workflow
          <select value={type} onChange={(event) => setType(event.target.value)} required>
            <option value="">choose…</option>
            {workflows?.items.map(({ type: one }) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      )}
      <label className="field">
        Cron line (minute, hour, day, month, weekday)
        <input className="mono" value={cron} onChange={(event) => setCron(event.target.value)} required />
        <span className="hint" role="status">
          {cronWords(cron) ?? 'The API checks this line.'}
        </span>
      </label>
      <label className="field">
        Timezone
        <input value={timezone} onChange={(event) => setTimezone(event.target.value)} required />
      </label>
      <label className="field">
        Missed slots
        <select value={catchUp} onChange={(event) => setCatchUp(event.target.value as CatchUpMode)}>
          {Object.entries(CATCH_UPS).map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        Name (optional)
        <input value={name} maxLength={100} onChange={(event) => setName(event.target.value)} />
      </label>
      <JsonInput label="Input of its runs" text={input} onText={setInput} />
    </>
  );
  if (schedule)
    return (
      <ActionDialog title="Change the schedule" verb="Change" act={change} onClose={onClose}>
        {fields}
        {wanted && !change && <p className="hint">Nothing was changed.</p>}
      </ActionDialog>
    );
  return (
    <ActionDialog
      title="New schedule"
      verb="Make"
      act={made || undefined}
      onDone={({ id }) => {
        onClose();
        navigate(`/schedules/${encodeURIComponent(id)}`);
      }}
      onClose={onClose}
    >
      {fields}
    </ActionDialog>
  );
}
