/** `sno fleet jobs`: the Jobs of a wave, and what none is printed for. */
import t from 'tap';
import { z } from 'zod';
import { waveName } from '../../../../cli/fleet/jobs.ts';
import { readGoDocuments } from '../../../../lib/base/go-yaml/read.ts';
import { sno } from '../run-sno.ts';

const ALWAYS = [
  ...['--image', 'registry.example.com/sno@sha256:0', '--publish-url', 'https://v.example.com/a/'],
  ...['--hub-server', 'https://hub.example.com:6443'],
];
const jobs = (...more: readonly string[]) => sno(['fleet', 'jobs', ...ALWAYS, ...more]);

const jobSchema = z.object({
  metadata: z.object({ name: z.string(), annotations: z.record(z.string(), z.string()) }),
  spec: z.looseObject({ suspend: z.boolean(), completions: z.int() }),
});
const read = (text: string) =>
  readGoDocuments(text).map((document) => jobSchema.parse('value' in document && document.value));

t.test('canaries, then the wave, each collected', async (t) => {
  const { code, out, err } = await jobs('--selector', 'wave=1', '--count', '1234');
  t.equal(code, 0, err);
  const deliver = [2, 4];
  const collect = [2, 3, 4];
  const expected = [
    ['sno-fleet-1-canary', false, 10, 10, 0, deliver],
    ['sno-fleet-1-canary-collect', true, 10, 10, 0, collect],
    ['sno-fleet-1', true, 1234, 100, 50, deliver],
    ['sno-fleet-1-collect', true, 1234, 100, 50, collect],
  ] as const;
  const made = read(out);
  t.equal(made.length, expected.length);
  for (const [
    at,
    [name, suspend, completions, parallelism, maxFailedIndexes, values],
  ] of expected.entries()) {
    t.match(made[at], {
      metadata: { name, annotations: { 'argocd.argoproj.io/sync-wave': `${at + 1}` } },
      spec: {
        completionMode: 'Indexed',
        ...{ suspend, completions, parallelism, maxFailedIndexes },
        podFailurePolicy: {
          rules: [
            { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] },
            { action: 'FailIndex', onExitCodes: { containerName: 'sno', operator: 'In', values } },
          ],
        },
        template: { spec: { restartPolicy: 'Never', activeDeadlineSeconds: Number } },
      },
    });
  }
  t.match(
    out,
    /^# Once sno-fleet-1 has ended: kubectl -n sno-fleet patch job sno-fleet-1-collect/m,
  );
});

t.test('the command line of the worker', async (t) => {
  const more = [
    '--selector',
    'wave=1,x!=y,!z',
    '--count',
    '1',
    '--canaries',
    '0',
    '--hub-ca',
    'hub',
  ];
  const refusedOrNot = await jobs(...more);
  const { code, out, err } = refusedOrNot;
  t.equal(code, 0, err);
  const [deliver, collect, ...others] = read(out);
  t.same(others, [], 'no canaries');
  const container = {
    command: ['sno'],
    args: [
      ...['fleet', 'site', '--namespace', 'sno-fleet', '--selector', 'wave=1,x!=y,!z'],
      ...['--index', '$(JOB_COMPLETION_INDEX)', '--phase', 'deliver', '--publish', '/srv/sites'],
      ...['--publish-url', 'https://v.example.com/a', '--sign', '/etc/sno-fleet/sign/id'],
      ...['--hub-server', 'https://hub.example.com:6443', '--hub-ca', '/etc/sno-fleet/hub/ca.crt'],
    ],
    securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
  };
  t.match(deliver?.spec, { suspend: false, template: { spec: { containers: [container] } } });
  t.match(JSON.stringify(collect), '"--phase","collect"');
  t.match(JSON.stringify(deliver), '"configMap":{"name":"hub"}');
});

t.test('a small wave has no more canaries, pods and failures than sites', async (t) => {
  const { out } = await jobs('--selector', 'wave=a.B', '--count', '3');
  const parts = { completions: 3, parallelism: 3 };
  t.match(read(out), [
    { metadata: { name: 'sno-fleet-a-b-canary' }, spec: { ...parts, maxFailedIndexes: 0 } },
    { spec: parts },
    { spec: { ...parts, maxFailedIndexes: 3 } },
    { spec: parts },
  ]);
});

t.test('Argo CD starts them itself', async (t) => {
  const { out } = await jobs('--selector', 'wave=1', '--count', '3', '--argo-cd');
  t.same(
    read(out).map(({ spec }) => spec.suspend),
    [false, false, false, false],
  );
  t.notMatch(out, /kubectl/);
});

t.test('what an installation, a person and a hub behind a firewall need', async (t) => {
  const wave = ['--selector', 'wave=1', '--count', '3', '--canaries', '0'];
  const more = ['--shared-iso', 'shared.iso', '--config-by-url', '--no-exchange'];
  const { out, err } = await jobs(...wave, ...more, '--collect-deadline', '72h');
  const [deliver, collect] = read(out).map(({ spec }) => JSON.stringify(spec));
  t.match(deliver, '"--shared","/srv/sites/shared.iso","--config-by-url"', err);
  t.match(collect, '"--deadline","259200s","--no-exchange"');
  t.notMatch(collect, '--shared');
  t.match(collect, '"activeDeadlineSeconds":261000', 'a pod lasts longer than what it waits for');
  t.match(deliver, '"activeDeadlineSeconds":1800');
  t.match(deliver, '"optional":true', 'a wave without volumes needs no key');
});

t.test('refused, with nothing printed', async (t) => {
  const wave = ['--selector', 'wave=1'];
  const count = ['--count', '5'];
  const bad: readonly (readonly [readonly string[], RegExp])[] = [
    [[...wave, '--count', '0'], /--count/],
    [[...wave, '--count', '100001'], /from 1 to 100000/],
    [[...wave, ...count, '--parallelism', '10001'], /from 1 to 10000/],
    [[...wave, ...count, '--canaries', '-1'], /--canaries/],
    [[...wave, ...count, '--shared-iso', '../x.iso'], /--shared-iso/],
    [[...wave, ...count, '--collect-deadline', '10s'], /--collect-deadline/],
    [['--selector', '', ...count], /--selector/],
    ...['wave = = 1', 'wave=1,', 'wave=a b', 'x in 1', '-a=1', 'wave=$(y)', 'a\n=1'].map(
      (selector) => [['--selector', selector, ...count], /--selector is not a selector/] as const,
    ),
    [['--selector', 'a-label-that-is-far-too-long=for-a-name', ...count], /makes no name of a Job/],
    [[...wave, ...count, '--publish-url', 'http://v.example.com'], /--publish-url/],
    [[...wave, ...count, '--publish-url', 'https://u:p@v.example.com'], /--publish-url/],
    [[...wave, ...count, '--hub-server', 'hub'], /--hub-server/],
    [[...wave, ...count, '--image', '-x y'], /--image/],
    ...['https://r.io/x:1', 'r.io/X:1', 'r.io/x:', 'r.io//x', 'r.io/x@sha1:0'].map(
      (image): [string[], RegExp] => [[...wave, ...count, '--image', image], /--image is not the/],
    ),
    [[...wave, ...count, '--claim', 'A'], /--claim/],
    [wave, /no kubeconfig of the hub is known/],
  ];
  for (const [args, says] of bad) {
    const home = { HOME: t.testdir() };
    const { code, out, err } = await sno(['fleet', 'jobs', ...ALWAYS, ...args], home);
    t.equal(code, 2, args.join(' '));
    t.equal(out, '');
    t.match(err, says);
  }
});

t.test('names of Jobs', async (t) => {
  t.equal(waveName('wave=1'), 'sno-fleet-1');
  t.equal(waveName('region=EU,tier!=x'), 'sno-fleet-region-eu-tier-x');
  t.equal(waveName('==='), undefined);
});
