// Prints what firebase-tools would deploy of a project, by its own code of `firebase deploy`: the functions of each codebase and of each
// instance of a kit, as JSON. A process of its own, because firebase-tools keeps state. Arguments: its folder, the project's folder and id.
import { createRequire } from 'node:module';

const [tools, cwd, projectId] = process.argv.slice(2);
const require = createRequire(`${tools}/package.json`);
const { Config } = require(`${tools}/lib/config.js`);
const { loadCodebases } = require(`${tools}/lib/deploy/functions/prepare.js`);
const { normalizeAndValidate } = require(`${tools}/lib/functions/projectConfig.js`);

const config = Config.load({ cwd });
const options = { cwd, config, project: projectId, projectId };
const builds = await loadCodebases(normalizeAndValidate(config.src.functions), options, { projectId }, {});
process.stdout.write(`${JSON.stringify(builds)}\n`);
