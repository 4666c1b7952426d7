import { createInterface } from 'node:readline';
import { Output } from './process/output.ts';
import { killPrograms } from './process/program.ts';
import { STOP_SIGNALS, Stopped } from './process/stopped.ts';
import { runSno } from './sno.ts';

const stop = new AbortController();
const output = new Output(process.stdout, process.stderr, (reason) => stop.abort(reason));

// Listeners stay until the second signal: execa's own handler ends the process at
// once if it is the only one.
for (const signal of STOP_SIGNALS) {
  const listener = () => {
    if (!stop.signal.aborted) return stop.abort(Stopped.bySignal(signal));
    killPrograms();
    process.removeListener(signal, listener);
    process.kill(process.pid, signal);
  };
  process.on(signal, listener);
}

async function main(): Promise<void> {
  const code = await runSno(process.argv.slice(2), {
    environment: process.env,
    print: output.print,
    complain: output.complain,
    answers: () => createInterface({ input: process.stdin }),
    signal: stop.signal,
    ...(process.stdout.isTTY ? { columns: process.stdout.columns } : {}),
  });
  const fault = await output.fault();
  if (code === 0 && fault !== undefined) output.complain(`sno: ${fault}`);
  process.exitCode = code === 0 && fault !== undefined ? 1 : code;
}

// No top-level await: the executable's main is CommonJS.
void main();
