// One cold instance, as the platform starts it: loads the deployed functions and answers one request through Express, then prints the
// CPU that this took. Arguments: the module, the function, the method and the path of the request. Plain JS, so that no time goes into
// stripping types.
import { request } from 'node:http';
import { pathToFileURL } from 'node:url';

const [module, name, method, path] = process.argv.slice(2);
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

// The server of the platform is always Express.
const { default: express } = await import('express');
const began = cpuMs();
const functions = await import(pathToFileURL(module).href);
const loaded = cpuMs();
const app = express();
app.use(express.raw({ type: () => true }));
app.use((asked, answer) => {
  asked.rawBody = Buffer.isBuffer(asked.body) ? asked.body : Buffer.alloc(0);
  functions[name](asked, answer);
});
const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  request({ host: '127.0.0.1', port, method, path }, (answer) => {
    answer.resume();
    answer.on('end', () => {
      const { statusCode: status } = answer;
      console.log(JSON.stringify({ status, loadMs: loaded - began, answerMs: cpuMs() - loaded }));
      process.exit(0);
    });
  }).end();
});
