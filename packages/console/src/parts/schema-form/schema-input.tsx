/** Input of a value for a schema, in a form if possible or as JSON. Shows every issue at once. */
import { useLayoutEffect, useRef } from 'react';
import { isFocusLost } from '../focus.ts';
import { JsonInput } from '../json-view/json-input.tsx';
import { asForm, asJson, type Entered, readEntered, withExample } from './entered.ts';
import { type RefusedEntry, stillRefused } from './refused.ts';
import { SchemaForm } from './schema-form.tsx';

interface SchemaInputProps {
  readonly schema: unknown;
  readonly entered: Entered;
  /** The value to begin with. */
  readonly begin?: unknown;
  /** `Input` or `Data`. */
  readonly label: string;
  readonly hint: string;
  /** Offers example values, which must not be offered where a person has to answer. */
  readonly offersExample?: boolean | undefined;
  /** Refused by the API when it was last sent. */
  readonly refused?: RefusedEntry | undefined;
  onEntered(entered: Entered): void;
}

const FIELD = ':is(input, select, textarea)';

export function SchemaInput({
  schema,
  entered,
  begin,
  label,
  hint,
  offersExample = false,
  refused,
  onEntered,
}: SchemaInputProps) {
  const reading = readEntered(schema, entered, begin);
  const { fields, isForm, typed, issues, jsonText } = reading;
  const exampled = offersExample ? withExample(reading, schema, entered) : undefined;
  const place = useRef<HTMLDivElement>(null);
  const wasForm = useRef(isForm);
  // A late schema replaces the field in which the person has begun to type, so the focus is restored.
  useLayoutEffect(() => {
    if (wasForm.current === isForm) return;
    wasForm.current = isForm;
    if (isFocusLost()) place.current?.querySelector<HTMLElement>(FIELD)?.focus();
  }, [isForm]);
  return (
    <>
      <div className="row between">
        {fields.length > 0 && (
          <fieldset className="segments" aria-label={`Give the ${label.toLowerCase()} as`}>
            <button
              type="button"
              aria-pressed={isForm}
              onClick={() => onEntered(asForm(reading, schema, entered))}
            >
              form
            </button>
            <button
              type="button"
              aria-pressed={!isForm}
              onClick={() => onEntered(asJson(reading, schema, entered))}
            >
              JSON
            </button>
          </fieldset>
        )}
        {exampled && (
          <button type="button" className="small" onClick={() => onEntered(exampled)}>
            {isForm ? 'Fill in examples' : 'Replace by an example'}
          </button>
        )}
      </div>
      <div ref={place} className="stack">
        {isForm ? (
          <SchemaForm
            label={label}
            fields={fields}
            typed={typed}
            issues={issues}
            refused={stillRefused(refused, typed)}
            onTyped={(next) => onEntered({ ...entered, typed: next })}
          />
        ) : (
          <JsonInput
            label={label}
            text={jsonText}
            onText={(text) => onEntered({ ...entered, text, wantsJson: true })}
            hint={hint}
            rows={10}
          />
        )}
      </div>
    </>
  );
}
