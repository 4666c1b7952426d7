/** How a program ends that others read through a pipe: real processes, and readers that are slow or gone. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';

const MODULE = join(import.meta.dirname, '../../../lib/base/end-process.ts');
const BYTES = 4 << 20;
const PROGRAM = `
import { endProcess, watchOutput } from ${JSON.stringify(MODULE)};
watchOutput();
process.stdout.write('x'.repeat(${BYTES}));
await new Promise((resolve) => setTimeout(resolve, Number(process.argv[1])));
process.stderr.write('its last words\\n');
await endProcess(3);
`;

/** What the reader prints, the exit code of the program before it in the pipe, and what that has said. */
function piped(reader: string, pauseMs: number): { read: string; exit: string; said: string } {
  const script =
    '{ "$1" --input-type=module --eval "$2" "$3" 2>"$5"/said; echo $? >"$5"/exit; } | sh -c "$4"';
  const folder = t.testdirName;
  const read = execFileSync(
    'sh',
    ['-c', script, 'sh', process.execPath, PROGRAM, `${pauseMs}`, reader, folder],
    { encoding: 'utf8' },
  );
  const text = (name: string) => execFileSync('cat', [join(folder, name)], { encoding: 'utf8' });
  return { read: read.trim(), exit: text('exit').trim(), said: text('said') };
}

t.testdir({});

t.test('a slow reader receives everything before the process ends', async (t) => {
  t.same(piped('sleep 1; wc -c', 0), { read: `${BYTES}`, exit: '3', said: 'its last words\n' });
});

t.test('a reader that is gone is no fault, and leaves no stack trace', async (t) => {
  t.same(piped('head -c 1', 200), { read: 'x', exit: '3', said: 'its last words\n' });
});

t.test('output that cannot be written is a fault', async (t) => {
  const program = PROGRAM.replace('endProcess(3)', 'endProcess(0)');
  const script = '"$1" --input-type=module --eval "$2" 0 >/dev/full 2>/dev/null; echo $?';
  const exit = execFileSync('sh', ['-c', script, 'sh', process.execPath, program], {
    encoding: 'utf8',
  });
  t.equal(exit.trim(), '1');
});
