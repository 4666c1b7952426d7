import { runSno } from './sno.ts';

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => interruption.abort(new Error(`interrupted by ${signal}`)));
}

// No top-level await: the executable's main is CommonJS.
runSno(process.argv.slice(2), {
  environment: process.env,
  print: (line) => void process.stdout.write(`${line}\n`),
  complain: (text) => void process.stderr.write(`${text}\n`),
  signal: interruption.signal,
  ...(process.stdout.isTTY ? { columns: process.stdout.columns } : {}),
}).then((code) => {
  process.exitCode = code;
});
