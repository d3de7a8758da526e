/** `init`: adds Cairn to a Firebase project, or removes it (`--undo`). */
import { command } from '../../arguments/command.ts';
import { DEFAULT_NAME } from '../../init/naming.ts';

export const init = command({
  name: 'init',
  summary: 'Add Cairn to the Firebase project of this folder, or remove it',
  details:
    'Adds a separate codebase with its own database, so that your functions, rules, indexes and site stay unchanged. Lists the\nchanges and asks before it makes them. If another version of the packages was installed, a second run updates the\ncodebase to it; otherwise it changes nothing. --undo restores every file that was not edited since, and reports the others.',
  options: {
    name: { type: 'text', help: 'name of the codebase, its folder, database and export (default cairn)' },
    language: {
      type: 'text',
      choices: ['ts', 'js'],
      help: 'language of the created files (default: that of your functions)',
    },
    region: {
      type: 'text',
      help: 'region of the functions and queues (default: that of your functions)',
    },
    'no-install': { type: 'flag', help: 'do not run npm install in the created folder' },
    yes: { type: 'flag', help: 'do not ask' },
    undo: { type: 'flag', help: 'remove what an earlier cairn init added' },
  },
  examples: [
    ['init', 'in the folder of firebase.json or below it'],
    ['init --yes --json', 'in a script'],
    ['init --undo', 'restore the files'],
  ],
  async run(context, { options }) {
    const { name = DEFAULT_NAME, language, region, undo, yes } = options;
    const { initOrUndo } = await import('./steps.ts');
    const installs = !options['no-install'];
    await initOrUndo(context, { name, language, region, undo, mayAsk: !yes, installs });
    return undefined;
  },
});
