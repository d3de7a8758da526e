/** Environment files as firebase-tools reads them. Pure. */

/** Always quoted: a value may contain characters that end an unquoted one. */
export function envFile(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${quoted(value)}\n`)
    .join('');
}

/** Names that the text gives a value, in their order. */
export function namesIn(text: string): string[] {
  return [...text.matchAll(/^([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => String(name));
}

/** The entries of `values` that are parameters of the functions: a file beside them wins over their environment. */
export function parametersAmong(
  names: readonly string[],
  values: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = values[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

const ESCAPED: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '"': '\\"',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

const quoted = (value: string) =>
  `"${value.replace(/[\\"\n\r\t]/g, (character) => ESCAPED[character] ?? '')}"`;
