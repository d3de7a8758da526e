// Prints the commands of the repository, from the table of docs/commands.md. Plain JavaScript without dependencies, as
// scripts/run.mjs: it runs before anything is installed.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TABLE = join(dirname(fileURLToPath(import.meta.url)), '../docs/commands.md');
const COLUMNS = 80;
/** Usual names of other projects, with the command of this one. */
const ELSEWHERE = { dev: 'npm start', build: 'npm run pack', lint: 'npm run check' };

/** @param unknown an unknown command */
export function helpText(unknown) {
  const rows = commandRows();
  const width = Math.max(...rows.map(([command]) => command.length)) + 2;
  const lines = rows.map(
    ([command, text]) => `  ${command.padEnd(width)}${brief(text, COLUMNS - width - 2)}`,
  );
  const why = unknown === undefined ? [] : [unknownText(unknown), ''];
  return [...why, 'Commands (docs/commands.md says more):', ...lines, ''].join('\n');
}

/** The whole row of one command, in lines of 80 columns. */
export function commandHelp(name) {
  const [command, text] = commandRows().find(([command]) => command === `npm run ${name}`);
  const lines = [''];
  for (const word of plainText(text).split(' ')) {
    const line = `${lines.at(-1)}${lines.at(-1) === '' ? '' : ' '}${word}`;
    if (line.length <= COLUMNS - 2) lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return [command, '', ...lines.map((line) => `  ${line}`), ''].join('\n');
}

function commandRows() {
  return [...readFileSync(TABLE, 'utf8').matchAll(/^\| `(npm (?:run )?[\w:-]+)[^`]*` \| (.+) \|$/gm)].map(
    ([, command, text]) => [command, text],
  );
}

function unknownText(name) {
  const instead = Object.hasOwn(ELSEWHERE, name) ? ELSEWHERE[name] : undefined;
  return `There is no command '${name}'${instead === undefined ? '' : ` here; \`${instead}\` does that`}.`;
}

/** The beginning of a cell, without its markup. */
function brief(cell, length) {
  const [sentence] = plainText(cell).split(/[.;:]? [(;]|[.;:] /);
  if (sentence.length <= length) return sentence;
  return `${sentence.slice(0, sentence.lastIndexOf(' ', length - 2)).replace(/,$/, '')} …`;
}

function plainText(cell) {
  return cell.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll('`', '');
}
