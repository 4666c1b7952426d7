import { X509Certificate } from 'node:crypto';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { readAttempts } from '../../../../agents/upkeep/renew/attempts.ts';
import { concludeRenewal } from '../../../../agents/upkeep/renew/conclude.ts';
import {
  kubeletCertificates,
  wasSetBack,
} from '../../../../agents/upkeep/renew/kubelet-certificates.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import type { Progress } from '../../../../lib/engine/steps/progress.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { kubeletPaths } from '../../../../lib/render/kubernetes/kubelet.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { testHost } from '../host/host.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const RESTART = 'systemctl restart kubelet.service';
const subject = { commonName: 'system:node:edge-0' };
const made = Date.now() - 2 * DAY_MS;
const authorities = {
  'kubelet-client': await createAuthority('kubelet-client-ca', undefined, new Date(made)),
  'kubelet-serving': await createAuthority('kubelet-serving-ca', undefined, new Date(made)),
};

interface Given {
  /** How old the client's certificate is; negative: issued with a fast clock. */
  readonly clientDays?: number;
  readonly servingDays?: number;
  /** How long ago the kubelet started by the clock of that time; undefined: it never did. */
  readonly kubeletHours?: number | undefined;
}

/** What `systemctl show` answers, by its options. */
const asSystemd = (started: number) => `case "$*" in
restart*) exit 0 ;;
*--timestamp=unix*) at=@${started} ;;
*) at='Sat 2029-12-29 12:00:00 UTC' ;;
esac
case "$*" in
"show kubelet.service "*--property=ActiveEnterTimestamp*--value*) echo "$at" ;;
"show kubelet.service "*) echo "ActiveEnterTimestamp=$at" ;;
*) exit 97 ;;
esac`;

/** An installed host whose kubelet has these certificates. */
async function kubeletHost(
  t: Test,
  { clientDays = 10, servingDays = 10, kubeletHours = 48 }: Given = {},
) {
  const host = testHost(t);
  const texts: string[] = [];
  for (const [name, path, days] of [
    ['kubelet-client', kubeletPaths.clientPair, clientDays],
    ['kubelet-serving', kubeletPaths.servingPair, servingDays],
  ] as const) {
    const issued = new Date(Date.now() - days * DAY_MS);
    const leaf = await issueLeaf(authorities[name], { subject, usage: 'both' }, issued);
    texts.push(leaf.certificate + leaf.key);
    host.write(path, leaf.certificate + leaf.key, 0o600);
    host.write(authorityPaths(name).certificate, authorities[name].certificate);
    host.write(authorityPaths(name).key, authorities[name].key, 0o600);
  }
  const started = Math.floor((Date.now() - kubeletHours * HOUR_MS) / 1000);
  host.programs.give('systemctl', asSystemd(started));
  const context = { ...host.context, run: 'this' };
  const isValid = (path: string) => {
    const { validFromDate, validToDate } = new X509Certificate(host.read(path));
    return validFromDate.getTime() <= Date.now() && Date.now() <= validToDate.getTime();
  };
  return {
    host,
    context,
    texts,
    run: () => kubeletCertificates.run(context, host.progress()),
    holds: (run = 'this') => kubeletCertificates.holds({ ...context, run }, host.progress()),
    restarts: () => host.programs.calls(RESTART).length,
    pairs: () => [kubeletPaths.clientPair, kubeletPaths.servingPair].map((path) => host.read(path)),
    areValid: () => [isValid(kubeletPaths.clientPair), isValid(kubeletPaths.servingPair)],
  };
}

t.test('kubelet-certificates', async (t) => {
  t.test('on most days nothing is changed', async (t) => {
    const it = await kubeletHost(t);
    t.equal(await it.holds(), false);
    t.same(await it.run(), { kind: 'done', note: 'none to correct' });
    t.equal(await it.holds(), true);
    t.equal(await it.holds('next'), false, 'each run looks');
    t.same(it.pairs(), it.texts);
    t.equal(it.restarts(), 0);
  });

  const invalid: [title: string, given: Given, changed: boolean[]][] = [
    ['a client from the future', { clientDays: -400 }, [true, false]],
    ['a serving certificate from the future', { servingDays: -400 }, [false, true]],
    ['an expired client', { clientDays: 366 }, [true, false]],
    ['both expired', { clientDays: 400, servingDays: 400 }, [true, true]],
  ];
  for (const [title, given, changed] of invalid) {
    t.test(`${title} is signed again, with its key`, async (t) => {
      const it = await kubeletHost(t, given);
      t.same(await it.run(), { kind: 'done', note: 'restarted the kubelet' });
      t.same(it.areValid(), [true, true]);
      const pairs = it.pairs();
      t.same(
        pairs.map((pair, index) => pair !== it.texts[index]),
        changed,
      );
      const keyOf = (pair = '') => pair.slice(pair.indexOf('-----BEGIN PRIVATE KEY'));
      t.same(pairs.map(keyOf), it.texts.map(keyOf));
      t.equal(it.host.mode(kubeletPaths.clientPair), 0o600);
      t.equal(it.restarts(), 1);
    });
  }

  t.test('a clock that is a minute early at most was not set back', async (t) => {
    const now = new Date();
    const by = (ms: number) => wasSetBack([undefined, new Date(now.getTime() + ms)], now);
    t.same([-1, 60_000, 60_001].map(by), [false, false, true]);
  });

  t.test('a clock that was set back', async (t) => {
    t.test('since the kubelet started', async (t) => {
      for (const [kubeletHours, restarts] of [
        [-2, 1],
        [-0.005, 0],
        [2, 0],
      ] as const) {
        const it = await kubeletHost(t, { kubeletHours });
        await it.run();
        t.equal(it.restarts(), restarts, `${kubeletHours} hours ago`);
        t.same(it.pairs(), it.texts);
      }
    });

    t.test('since the last run: once', async (t) => {
      const it = await kubeletHost(t);
      mock.timers.enable({ apis: ['Date'], now: Date.now() + 2 * DAY_MS });
      await it.run();
      mock.timers.reset();
      t.equal(it.restarts(), 0, 'ahead');
      t.same(await it.run(), { kind: 'done', note: 'restarted the kubelet' });
      t.match(it.host.lines.join(''), /The clock was set back/);
      await it.run();
      t.equal(it.restarts(), 1);
    });
  });

  t.test('with a clock before the CAs it says so, and is right once the clock is', async (t) => {
    const it = await kubeletHost(t);
    mock.timers.enable({ apis: ['Date'], now: 0 });
    t.same(await it.run(), { kind: 'done', note: 'failed' });
    t.match((await readAttempts(it.host.paths))[0], {
      failure: {
        code: 'leaf-not-signed',
        cause: { what: /is not valid yet/, fix: /Check the host's clock/ },
      },
    });
    await t.rejects(concludeRenewal.run(it.context, it.host.progress()), {
      code: 'renewal-failed',
    });
    mock.timers.reset();
    t.same(await it.run(), { kind: 'done', note: 'none to correct' });
    t.same(it.pairs(), it.texts);
    t.same(await concludeRenewal.run(it.context, it.host.progress()), { kind: 'done' });
  });

  t.test('one that cannot be signed does not keep the kubelet from the other', async (t) => {
    for (const [failing, other] of [
      ['kubelet-serving', 'kubelet-client'],
      ['kubelet-client', 'kubelet-serving'],
    ] as const) {
      const it = await kubeletHost(t, { clientDays: 400, servingDays: 400 });
      it.host.remove(authorityPaths(failing).key);
      t.same(await it.run(), { kind: 'done', note: 'failed' });
      t.same(it.areValid(), [failing !== 'kubelet-client', failing !== 'kubelet-serving']);
      t.equal(it.restarts(), 1);
      t.match(await readAttempts(it.host.paths), [{ failure: { code: 'leaf-not-signed' } }]);
      t.match(it.host.lines.join(''), `Signed ${other} again`);
      t.notMatch(it.host.lines.join(''), `Signed ${failing} again`);
    }
  });

  t.test('where none can be signed, the kubelet is not restarted', async (t) => {
    const it = await kubeletHost(t, { servingDays: 400 });
    it.host.remove(authorityPaths('kubelet-serving').key);
    t.same(await it.run(), { kind: 'done', note: 'failed' });
    t.equal(it.restarts(), 0);
  });

  t.test('killed at any moment, the kubelet is restarted after the last change', async (t) => {
    await killedAtAnyMoment(t, {
      prepare: () => kubeletHost(t, { clientDays: 400, servingDays: 400 }),
      run: (it) => it.run(),
      result: async (it) => ({
        areValid: it.areValid(),
        hasRestarted: it.restarts() > 0,
        attempts: (await readAttempts(it.host.paths)).map(({ at: _at, ...attempt }) => attempt),
      }),
      least: 8,
      isDurable: true,
    });
  });

  t.test('told to stop while systemd is asked, it has not failed', async (t) => {
    for (const [call, recorded] of [
      ['show', []],
      ['restart', [{ name: 'kubelet-certificates', restartDue: true }]],
    ] as const) {
      const { host, context, run, restarts } = await kubeletHost(t, { clientDays: 400 });
      const asked = `if [ "$1" = ${call} ]; then touch "$ROOT/asked"; exec sleep 60; fi`;
      host.programs.give('systemctl', `${asked}\n${asSystemd(0)}`);
      const body = (progress: Progress) => kubeletCertificates.run(context, progress);
      t.match(await host.stoppedAt('/asked', body), { message: 'told to stop' }, call);
      const attempts = await readAttempts(host.paths);
      t.same(
        attempts.map(({ at: _at, ...attempt }) => attempt),
        recorded,
        'the next run goes on',
      );
      host.programs.give('systemctl', asSystemd(0));
      const before = restarts();
      await run();
      t.equal(restarts(), before + 1);
    }
  });

  t.test('a kubelet that never started, or a damaged certificate', async (t) => {
    const it = await kubeletHost(t);
    it.host.programs.give('systemctl', 'echo');
    t.same(await it.run(), { kind: 'done', note: 'none to correct' });
    it.host.write(kubeletPaths.clientPair, 'damaged', 0o600);
    t.same(await it.run(), { kind: 'done', note: 'failed' });
    t.match(await readAttempts(it.host.paths), [{ failure: { subject: kubeletPaths.clientPair } }]);
  });
});
