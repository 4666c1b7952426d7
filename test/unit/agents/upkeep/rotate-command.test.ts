import { mock } from 'node:test';
import t from 'tap';
import { parse } from 'yaml';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import { lockAgent } from '../../../../lib/engine/steps/lock.ts';
import { createSuccessor } from '../../../../lib/pki/authority.ts';
import {
  authorityNames,
  authorityPaths,
  laptopAdminCa,
} from '../../../../lib/render/kubernetes/authorities.ts';
import { encryptionConfigPath } from '../../../../lib/render/kubernetes/encryption.ts';
import { issuedLeaves } from '../../../../lib/render/kubernetes/leaves.ts';
import { serviceAccount } from '../../../../lib/render/kubernetes/service-account.ts';
import { servingPair } from '../../render/rendered-host.ts';
import { listOf } from '../host/api.ts';
import type { TestHost } from '../host/host.ts';
import { apiOf, earlierAuthority, podOf } from './earlier-authority.ts';
import { installed, REQUEST } from './rotate-host.ts';

const ANSWERS = {
  'GET /api/v1/nodes': listOf(),
  'GET /api/v1/pods': listOf(
    podOf('web', 'kube-root-ca.crt'),
    podOf('batch', 'settings'),
    podOf('job', 'kube-root-ca.crt', [], { status: { phase: 'Succeeded' } }),
  ),
};
const STATUS = '/run/sno-agents/sno-rotate/status.json';

t.test('a rotation is requested and started', async (t) => {
  const table: [args: string[], what: object, prints: RegExp][] = [
    [['rotate-ca', 'etcd'], { kind: 'authorities', names: ['etcd'] }, /sno-rotate status/],
    [
      ['rotate-ca', 'admin', 'etcd'],
      { kind: 'authorities', names: ['etcd', 'admin'] },
      /--csr FILE/,
    ],
    [
      ['rotate-ca', 'all'],
      { kind: 'authorities', names: [...authorityNames] },
      /sno-rotate status/,
    ],
    [['rotate-keys', 'service-account'], { kind: 'service-account' }, /Tokens that do not expire/],
    [['rotate-keys', 'encryption'], { kind: 'encryption' }, /sno-rotate status/],
  ];
  for (const [args, what, prints] of table) {
    t.test(args.join(' '), async (t) => {
      const { host, run } = await installed(t);
      const { code, printed } = await run(...args, '--no-wait');
      t.equal(code, 0);
      t.match(printed, prints);
      const told = [printed.includes('--csr FILE'), printed.includes('Tokens that do not expire')];
      const concerned = [/admin|all/.test(String(args)), args.includes('service-account')];
      t.same(told, concerned, 'what ends with the old one');
      t.match(JSON.parse(host.read(REQUEST)), { what, restartWorkloads: false });
      t.equal(host.mode(REQUEST), 0o600);
      t.same(host.programs.calls(), ['systemctl start --no-block sno-rotate.service']);
      const request = host.read(REQUEST);
      const again = await run(...args, '--no-wait');
      t.equal(again.code, 0);
      t.match(again.printed, /is under way already/);
      t.equal(host.read(REQUEST), request, 'the same request');
    });
  }
});

t.test('what prevents a rotation: nothing is changed', async (t) => {
  t.test('everything at once', async (t) => {
    const { host, run } = await installed(t);
    await run('rotate-keys', 'encryption', '--no-wait');
    const request = host.read(REQUEST);
    host.remove('/var/lib/sno-agents/record.json');
    host.remove(authorityPaths('etcd').key);
    host.write('/var/lib/sno-agents/sno-renew/replaced/kube-scheduler.crt');
    host.write('/var/lib/sno-agents/sno-backup-restore/request.json', '{}');
    const { code, errors } = await run('rotate-ca', 'etcd', 'admin');
    t.equal(code, 2);
    for (const part of [
      /CA etcd, admin cannot be rotated/,
      /the rotation of the encryption key is under way/,
      /the installation is not complete/,
      /a backup is being restored/,
      /the renewal of kube-scheduler has not ended/,
      /pki\/ca\/etcd\/ca\.key does not exist/,
    ]) {
      t.match(errors, part);
    }
    t.equal(host.read(REQUEST), request);
    t.equal(host.programs.calls().length, 1);
  });

  t.test('other CAs while some are replaced', async (t) => {
    const { host, run } = await installed(t);
    await run('rotate-ca', 'etcd', '--no-wait');
    const request = host.read(REQUEST);
    const { code, errors } = await run('rotate-ca', 'etcd', 'front-proxy', '--no-wait');
    t.equal(code, 2);
    t.match(errors, /the rotation of CA etcd is under way/);
    t.equal(host.read(REQUEST), request);
  });

  t.test('another request at the same moment', async (t) => {
    const { host, run } = await installed(t);
    using _other = await lockAgent('change', host.root);
    const { code, errors } = await run('rotate-keys', 'encryption', '--no-wait');
    t.equal(code, 2);
    t.match(errors, /another change is being requested/);
    t.notOk(host.has(REQUEST));
  });

  t.test('keys of more than Secrets, which alone are stored again', async (t) => {
    const { host, run } = await installed(t);
    const { resources, ...rest } = parse(host.read(encryptionConfigPath));
    const entry = { ...resources[0], resources: ['secrets', 'configmaps'] };
    host.write(encryptionConfigPath, JSON.stringify({ ...rest, resources: [entry] }), 0o600);
    const { code, errors } = await run('rotate-keys', 'encryption');
    t.equal(code, 2);
    t.match(errors, /encryption key cannot be rotated.*encryption\.yaml cannot be changed/s);
    t.notOk(host.has(REQUEST));
    t.equal((await run('rotate-keys', 'service-account', '--no-wait')).code, 0);
  });

  t.test('a clock with which the CAs are not valid', async (t) => {
    const { host, run } = await installed(t);
    mock.timers.enable({ apis: ['Date'], now: 0 });
    t.teardown(() => mock.timers.reset());
    const { code, errors } = await run('rotate-ca', 'etcd', 'front-proxy');
    t.equal(code, 2);
    t.match(errors, /CN=etcd-ca is not valid yet.*found 1970-01-01/);
    t.match(errors, /CN=front-proxy-ca is not valid yet/, 'each of them');
    t.notOk(host.has(REQUEST));
    t.equal((await run('rotate-keys', 'encryption', '--no-wait')).code, 0, 'keys have no dates');
  });

  t.test('a CA that cannot sign its successor, unless its pods may be restarted', async (t) => {
    const authority = await earlierAuthority();
    const { url, longestMs } = await apiOf(t, authority, ANSWERS);
    const { host, run } = await installed(t, { api: url });
    host.write(authorityPaths('serving').certificate, authority.certificate);
    const { code, errors } = await run('rotate-ca', 'serving');
    t.equal(code, 2);
    t.match(errors, /path length 0.*until they restart: shop\/web\..*--restart-workloads/);
    t.notMatch(errors, /batch|job/);
    t.ok(longestMs() > 0 && longestMs() < 120_000, 'its rights end with the question');
    t.notOk(host.has(REQUEST));
    t.equal((await run('rotate-ca', 'serving', '--restart-workloads', '--no-wait')).code, 0);
    t.match(JSON.parse(host.read(REQUEST)), { restartWorkloads: true });
  });

  t.test('a laptop that could not verify the API server any more', async (t) => {
    const { certificate } = issuedLeaves.apiServerServing;
    const first = await installed(t);
    t.equal((await first.run('rotate-ca', 'serving', '--no-wait')).code, 0, 'once it can');
    const next = await createSuccessor(servingPair, new Date());
    const rotated = (host: TestHost) => {
      host.write(authorityPaths('serving').certificate, next.certificate);
      host.write(certificate, `${next.certificate}${next.cross}`);
    };
    const api = (await apiOf(t, next, ANSWERS)).url;
    const { host, run } = await installed(t, { api });
    rotated(host);
    const { code, errors } = await run('rotate-ca', 'serving');
    t.equal(code, 2);
    t.match(errors, /was not exchanged: .*sno wait-for install-complete/);
    t.notOk(host.has(REQUEST));
    const stranger = await createSuccessor(await createAuthority('another CA'), new Date());
    for (const [chain, why] of [
      [next.certificate, 'it knows the present one'],
      [`${next.certificate}${stranger.cross}`, 'what is behind it is of another CA'],
    ] as const) {
      host.write(certificate, chain);
      t.equal((await run('rotate-ca', 'serving', '--no-wait')).code, 0, why);
      host.remove(REQUEST);
    }
    const other = await installed(t, { api });
    rotated(other.host);
    other.host.remove(laptopAdminCa);
    t.equal((await other.run('rotate-ca', 'serving', '--no-wait')).code, 0, 'it was exchanged');
    const both = await installed(t, { api });
    rotated(both.host);
    t.equal((await both.run('rotate-ca', 'serving', 'admin', '--no-wait')).code, 0, 'it ends');
    const without = await installed(t, { api });
    rotated(without.host);
    without.host.remove(authorityPaths('serving').certificate);
    const missing = await without.run('rotate-ca', 'serving');
    t.equal(missing.code, 2);
    t.match(missing.errors, /serving\/ca\.crt does not exist/);
  });

  t.test('a key that is missing', async (t) => {
    const { privateKey, publicKey } = serviceAccount;
    for (const [kind, path] of [
      ['encryption', encryptionConfigPath],
      ['service-account', privateKey],
      ['service-account', publicKey],
    ] as const) {
      const { host, run } = await installed(t);
      host.remove(path);
      const { code, errors } = await run('rotate-keys', kind, '--no-wait');
      t.equal(code, 2);
      t.match(errors, `${path} does not exist. Restore it from a backup.`);
      t.notOk(host.has(REQUEST));
    }
  });

  const unknown: [args: string[], says: RegExp][] = [
    [
      ['rotate-ca', 'etcd', 'root', 'web'],
      /there is no CA root, web; expected any of etcd, serving/,
    ],
    [['rotate-ca'], /missing required argument/],
    [['rotate-keys', 'etcd'], /Allowed choices are service-account, encryption/],
  ];
  for (const [args, says] of unknown) {
    t.test(args.join(' '), async (t) => {
      const { host, run } = await installed(t);
      const { code, errors } = await run(...args);
      t.equal(code, 2);
      t.match(errors, says);
      t.notOk(host.has(REQUEST));
    });
  }
});

t.test('the command follows the agent to its end', async (t) => {
  const status = {
    schemaVersion: 1,
    version: '1',
    agent: 'sno-rotate',
    unit: 'sno-rotate',
    updated: '2999-01-01T00:00:00Z',
  };
  const record = {
    schemaVersion: 1,
    requested: '2026-01-01T00:00:00Z',
    ended: '2026-01-01T00:00:00Z',
    what: { kind: 'encryption' },
    restarted: ['kube-apiserver'],
  };
  const failure = { kind: 'fatal', code: 'rotation-rolled-back', what: 'it did not work' };
  const table: [state: object, code: number, says: RegExp][] = [
    [{ state: 'done' }, 0, /Rotated the encryption key; restarted: kube-apiserver/],
    [{ state: 'failed', failure }, 4, /it did not work/],
    [{ state: 'stopped' }, 1, /has not ended.*a restart of the host continues it/],
  ];
  const RECORD = '/var/lib/sno-agents/sno-rotate/last.json';
  /** What the agent does at its end. */
  const conclude = (host: TestHost) => {
    const { id } = JSON.parse(host.read(REQUEST));
    host.write(RECORD, JSON.stringify({ ...record, id }));
    host.remove(REQUEST);
  };
  for (const [state, code, says] of table) {
    const { host, printing } = await installed(t);
    host.write(STATUS, JSON.stringify({ ...status, ...state }));
    const next = (text: string) => {
      if (code === 0 && /continues without this command/.test(text)) conclude(host);
    };
    const ended = await printing(next, 'rotate-keys', 'encryption');
    t.equal(ended.code, code);
    t.match(ended.printed + ended.errors, says);
  }

  t.test('and prints each of its steps once', async (t) => {
    const { host, printing } = await installed(t);
    const running = { ...status, state: 'running' };
    const step = { name: 'trust-both', number: 2, of: 8, attempt: 1, since: '', until: '' };
    const write = (state: object) => host.write(STATUS, JSON.stringify({ ...running, ...state }));
    write({});
    // An earlier one of the same kind.
    host.write(RECORD, JSON.stringify({ ...record, id: 'earlier' }));
    const next = (text: string) => {
      if (/^Starting/.test(text)) write({ step });
      if (/^Step 2 of 8: trust-both\n/.test(text)) {
        // The same once more, before the next one.
        setTimeout(() => write({ step: { ...step, waitingFor: 'etcd' } }), 1500);
      }
      if (/^Step 2 of 8: trust-both, waiting for etcd\n/.test(text)) {
        conclude(host);
        write({ state: 'done' });
      }
    };
    const { code, printed } = await printing(next, 'rotate-keys', 'encryption');
    t.equal(code, 0);
    t.equal(printed.match(/trust-both\n/g)?.length, 1);
    t.match(printed, /Rotated the encryption key; restarted: kube-apiserver\n$/);
  });

  t.test('one that is under way already, from its present step', async (t) => {
    const { host, run, printing } = await installed(t);
    await run('rotate-keys', 'encryption', '--no-wait');
    const earlier = { ...status, updated: '2020-01-01T00:00:00Z' };
    host.write(STATUS, JSON.stringify({ ...earlier, state: 'running' }));
    const next = (text: string) => {
      if (!/^Starting/.test(text)) return;
      conclude(host);
      host.write(STATUS, JSON.stringify({ ...status, state: 'done' }));
    };
    const { code, printed } = await printing(next, 'rotate-keys', 'encryption');
    t.equal(code, 0);
    t.match(printed, /is under way already/);
    t.match(printed, /Rotated the encryption key; restarted: kube-apiserver\n$/);
  });

  t.test('an agent that does not start', async (t) => {
    const { host, run } = await installed(t);
    // Of an earlier run.
    const earlier = { ...status, updated: '2020-01-01T00:00:00Z', state: 'done' };
    host.write(STATUS, JSON.stringify(earlier));
    t.match(await run('rotate-keys', 'encryption'), {
      code: 1,
      errors: /the rotation has not ended\. See "sno-rotate status"/,
    });
  });

  t.test('also past a failure after which systemd starts it again', async (t) => {
    const { host, printing } = await installed(t);
    const retried = { kind: 'retry', code: 'unavailable', what: 'the API does not answer' };
    host.write(STATUS, JSON.stringify({ ...status, state: 'failed', failure: retried }));
    const ends = (text: string) => {
      if (!/starts again after a failure: the API does not answer/.test(text)) return;
      conclude(host);
      host.write(STATUS, JSON.stringify({ ...status, state: 'done' }));
    };
    const { code, printed } = await printing(ends, 'rotate-keys', 'encryption');
    t.equal(code, 0);
    t.match(printed, /Rotated the encryption key/);
  });
});
