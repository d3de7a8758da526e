/** `init`: adds Cairn to a Firebase project, or removes it (`--undo`). */
import { command } from '../../arguments/command.ts';
import { DEFAULT_NAME } from '../../init/naming.ts';

export const init = command({
  name: 'init',
  summary: 'Add Cairn to the Firebase project of this folder, or remove it',
  details:
    'Makes a codebase of its own with a database of its own, so that your functions, rules, indexes and site stay as they\nare. Says first what it would change, and asks. After another version of the packages was installed it gives the codebase\nthat version; otherwise a second time there is nothing to do. --undo restores every file that\nnobody has edited since, and reports those that it leaves.',
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
