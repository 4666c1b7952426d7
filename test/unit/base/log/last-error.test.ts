import t from 'tap';
import { lastError } from '../../../../lib/base/log/last-error.ts';

const CGROUP =
  'failed to run Kubelet: failed to validate kubelet configuration, error: kubelet is configured to not run on a host using cgroup v1';

/** What programs of the control plane and runtimes print at their end, and why they ended. */
const ENDS: readonly (readonly [what: string, printed: string, why: string])[] = [
  [
    'klog, behind other lines',
    `I1128 04:14:26.156706   25319 watchdog_linux.go:137] "Systemd watchdog is not enabled"
E1128 04:14:26.174363   25319 run.go:72] "command failed" err="${CGROUP}"
`,
    `"command failed" err="${CGROUP}"`,
  ],
  [
    'an error, and then usage',
    'flag provided but not defined: -nonsense\nUsage:\n\n  etcd [flags]\n    Start an etcd server.\n',
    'flag provided but not defined: -nonsense',
  ],
  [
    'plain',
    'Flag --x has been deprecated\nError: unknown flag: --nonsense\n',
    'Error: unknown flag: --nonsense',
  ],
  [
    'JSON of etcd',
    `{"level":"info","ts":"2026-11-28T04:14:29Z","msg":"closed etcd server"}
{"level":"fatal","ts":"2026-11-28T04:14:29Z","caller":"etcdmain/etcd.go:183","msg":"discovery failed","error":"cannot access data directory: mkdir /proc/x: no such file or directory","stacktrace":"go.etcd.io\\n"}
`,
    'discovery failed: cannot access data directory: mkdir /proc/x: no such file or directory',
  ],
  [
    'logfmt of a runtime',
    'time="2026-11-28T04:14:29Z" level=info msg="starting containerd"\ntime="2026-11-28T04:14:29Z" level=fatal msg="invalid plugin config: \\"x\\""\n',
    'invalid plugin config: "x"',
  ],
  [
    'a panic, and its goroutines',
    'panic: runtime error: index out of range\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:7 +0x1d\n',
    'panic: runtime error: index out of range',
  ],
  ['no error', 'beginning\nending\n\n', 'ending'],
  ['nothing', '\n', ''],
];

t.test('why a program ended', async (t) => {
  for (const [what, printed, why] of ENDS) t.equal(lastError(printed), why, what);
  t.ok(lastError(`Error: ${'x'.repeat(9999)}`).length < 500, 'one line of a message');
});

t.test('no secret is told', async (t) => {
  const told = lastError(
    'E1128 04:14:26.1   25 run.go:72] "cannot log in" err="GET https://me:hunter22@example.test: Bearer abcdefghijklmnopqrstuvwxyz"',
  );
  t.match(told, /cannot log in/);
  t.notMatch(told, /hunter22|abcdefgh/);
  const key = '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIAbcdef\n-----END EC PRIVATE KEY-----\n';
  t.notMatch(lastError(`cannot parse\n${key}`), /MHcCAQ/);
  t.notMatch(
    lastError('cannot parse\n-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIAbcdef\n'),
    /MHcCAQ/,
  );
});
