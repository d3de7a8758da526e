/** Describes cron expressions in words. Pure. */
import cronstrue from 'cronstrue';

const FIELDS = 5;

/**
 * `Every day at 09:00`, `At 09:00, Monday through Friday`, without the time zone. Undefined if the expression is invalid, or
 * names both a day of the month and a day of the week: cron combines these by "or", but the words would say "and".
 */
export function cronWords(line: string): string | undefined {
  const fields = line.trim().split(/\s+/);
  const [, , day, month, weekday] = fields;
  if (fields.length !== FIELDS || (day !== '*' && weekday !== '*')) return undefined;
  try {
    const words = cronstrue.toString(fields.join(' '), { use24HourTimeFormat: true });
    const isDaily = day === '*' && month === '*' && weekday === '*';
    return isDaily ? words.replace(/^At /, 'Every day at ') : words;
  } catch {
    return undefined;
  }
}

/** The parts of an expression as `cronstrue` names them in its errors. */
const PARTS: Readonly<Record<string, string>> = {
  minutes: 'minute',
  hours: 'hour',
  DOM: 'day of the month',
  month: 'month',
  DOW: 'weekday',
};

/** `The hour must be from 0 to 23.`; undefined if no field is out of range. */
function rangeText(line: string): string | undefined {
  try {
    cronstrue.toString(line);
    return undefined;
  } catch (error) {
    const [, part = '', least, most] = /(\w+) part must be >= (\d+) and <= (\d+)/.exec(String(error)) ?? [];
    return PARTS[part] && `The ${PARTS[part]} must be from ${least} to ${most}.`;
  }
}

/** The hint below a field for a cron expression. */
export function cronHint(line: string): string {
  const text = line.trim();
  if (text === '') return 'Give the five fields, for example 0 9 * * MON-FRI.';
  const count = text.split(/\s+/).length;
  if (count !== FIELDS)
    return `This expression has ${count} ${count === 1 ? 'field' : 'fields'}, not ${FIELDS}.`;
  return cronWords(line) ?? rangeText(text) ?? 'The API checks this expression.';
}
