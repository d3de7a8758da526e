/** Form that creates or changes a schedule. */
import { type ComponentProps, useId, useState } from 'react';
import { useLocation } from 'wouter';
import type { Answer } from '../../api/client.ts';
import { cronHint } from '../../parts/cron/words.ts';
import { ActionDialog } from '../../parts/dialog/action-dialog.tsx';
import {
  type Entered,
  isUntouched,
  lackOf,
  NOTHING_ENTERED,
  readEntered,
} from '../../parts/schema-form/entered.ts';
import {
  memberRefused,
  type RefusedEntry,
  type RefusedMember,
  refusedAt,
} from '../../parts/schema-form/refused.ts';
import { SchemaInput } from '../../parts/schema-form/schema-input.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { useInputSchema, WorkflowField } from '../workflows/workflow-field.tsx';
import { CATCH_UPS, type CatchUpMode, changeSchedule, makeSchedule } from './acts.ts';

interface ScheduleFormProps {
  /** The schedule to change; undefined for a new one. */
  readonly schedule?: Answer<'Schedule'>;
  onClose(): void;
}

export function ScheduleForm({ schedule, onClose }: ScheduleFormProps) {
  const [, navigate] = useLocation();
  const [type, setType] = useState(schedule?.type ?? '');
  const [name, setName] = useState(schedule?.name ?? '');
  const [cron, setCron] = useState(schedule?.cron ?? '0 9 * * *');
  const [timezone, setTimezone] = useState(
    schedule?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  );
  const [catchUp, setCatchUp] = useState<CatchUpMode>(schedule?.catchUp ?? 'latest');
  const [entered, setEntered] = useState<Entered>(NOTHING_ENTERED);
  const [refused, setRefused] = useState<RefusedEntry>();
  const [refusedMember, setRefusedMember] = useState<RefusedMember>();
  const { schema, isLoading, failure } = useInputSchema(type);
  const read = readEntered(schema, entered, schedule?.input);
  const { typed } = read;
  // An untouched input is sent unchanged: the form may show it differently, or consider it incomplete.
  const keepsInput = schedule !== undefined && isUntouched(entered);
  const input = keepsInput ? schedule.input : read.value;
  const hasValue = keepsInput || read.hasValue;
  const isWhole = type !== '' && cron.trim() !== '' && timezone.trim() !== '' && hasValue;
  const lack = type === '' ? 'Choose a workflow.' : keepsInput ? undefined : lackOf(read);
  const wanted = isWhole
    ? { type, name: name.trim(), cron: cron.trim(), timezone: timezone.trim(), catchUp, input }
    : undefined;
  const onRefused = (error: unknown) => {
    setRefused({ typed, issues: refusedAt(error, 'input', read) });
    setRefusedMember(
      memberRefused(error, { cron: cron.trim(), timezone: timezone.trim(), name: name.trim() }),
    );
  };
  const refusalOf = (member: string, text: string) =>
    refusedMember?.name === member && refusedMember.sent === text.trim() ? refusedMember.why : undefined;
  const change = wanted && schedule && changeSchedule(schedule, wanted);
  const made = wanted && !schedule && makeSchedule(wanted);
  const changeType = (next: string) => {
    setType(next);
    setEntered(NOTHING_ENTERED);
    setRefused(undefined);
  };
  const fields = (
    <>
      {!schedule && <WorkflowField value={type} onChange={changeType} />}
      <RefusableField
        label="Cron expression (minute, hour, day, month, weekday)"
        name="cron"
        refusal={refusalOf('cron', cron)}
        hint={cronHint(cron)}
        className="mono"
        value={cron}
        onText={setCron}
        required
      />
      <ZoneField refusal={refusalOf('timezone', timezone)} value={timezone} onText={setTimezone} />
      <CatchUpField value={catchUp} onChange={setCatchUp} />
      <RefusableField
        label="Name (optional)"
        name="name"
        refusal={refusalOf('name', name)}
        value={name}
        maxLength={100}
        onText={setName}
      />
      {failure}
      {/* The choice of a workflow would discard what was typed before it. */}
      {type !== '' && (
        <SchemaInput
          label="Input of its runs"
          schema={schema}
          entered={entered}
          begin={schedule?.input}
          hint={isLoading ? 'Reading the schema…' : 'JSON that the workflow accepts.'}
          offersExample={schema !== undefined && schema !== null}
          refused={refused}
          onEntered={setEntered}
        />
      )}
    </>
  );
  const dialog = { lack, onRefused, onClose, children: fields };
  if (schedule) {
    const unchanged = wanted && 'Nothing was changed.';
    return (
      <ActionDialog
        {...dialog}
        title="Change the schedule"
        verb="Change"
        act={change}
        lack={lack ?? unchanged}
      />
    );
  }
  return (
    <ActionDialog
      {...dialog}
      title="New schedule"
      verb="Create"
      act={made || undefined}
      onDone={({ id }) => {
        onClose();
        navigate(`/schedules/${encodeURIComponent(id)}`);
      }}
    />
  );
}

function ZoneField(props: Pick<RefusableFieldProps, 'refusal' | 'value' | 'onText'>) {
  const zonesId = useId();
  return (
    <>
      <RefusableField label="Timezone" name="timezone" list={zonesId} required {...props} />
      <datalist id={zonesId}>
        {Intl.supportedValuesOf('timeZone').map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </>
  );
}

interface CatchUpFieldProps {
  readonly value: CatchUpMode;
  onChange(mode: CatchUpMode): void;
}

function CatchUpField({ value, onChange }: CatchUpFieldProps) {
  return (
    <label className="field">
      Missed slots
      <select value={value} onChange={(event) => onChange(event.target.value as CatchUpMode)}>
        {Object.entries(CATCH_UPS).map(([mode, words]) => (
          <option key={mode} value={mode}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

interface RefusableFieldProps extends Omit<ComponentProps<'input'>, 'onChange'> {
  readonly label: string;
  /** The member of the request. */
  readonly name: string;
  /** Reason of the API for refusing the current text of the field. */
  readonly refusal: string | undefined;
  readonly hint?: string;
  onText(text: string): void;
}

function RefusableField({ label, refusal, hint = '', onText, ...input }: RefusableFieldProps) {
  const id = useId();
  const isBad = refusal !== undefined;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        {...input}
        id={id}
        aria-describedby={`${id}-hint`}
        aria-invalid={isBad}
        onChange={({ target }) => onText(target.value)}
      />
      <span id={`${id}-hint`} className={isBad ? 'hint bad' : 'hint'} role="status">
        {isBad ? visibleText(refusal) : hint}
      </span>
    </div>
  );
}
