/** The one table of releases, and how each part asks it. */
import t from 'tap';
import { compareMinors } from '../../../../lib/base/minor.ts';
import { isOkd, judgeRelease } from '../../../../lib/config/openshift/judge-release.ts';
import { OPENSHIFT_RELEASES, RELEASE_PARTS } from '../../../../lib/config/openshift/releases.ts';

t.test('the table', async (t) => {
  const minors = OPENSHIFT_RELEASES.map(({ minor }) => minor);
  t.same(minors, [...new Set(minors)].toSorted(compareMinors), 'oldest first, each once');
  for (const part of RELEASE_PARTS) {
    const known = OPENSHIFT_RELEASES.map((row) => row[part] !== undefined);
    t.notOk(known.slice(known.indexOf(true)).includes(false), `${part}: without a gap`);
    t.ok(known.at(-1), `${part}: the newest, so that a newer one is the only unknown`);
  }
});

t.test('known releases', async (t) => {
  for (const [part, version, minor] of [
    ['takeOver', '4.14.0', '4.14'],
    ['takeOver', '5.0.0', '5.0'],
    ['render', '4.21.0-okd-scos.3', '4.21'],
    ['relocate', '4.19.0-rc.0', '4.19'],
  ] as const) {
    t.strictSame(judgeRelease(part, version, false), { ok: true, minor, as: minor }, version);
  }
});

t.test('an unknown newer release', async (t) => {
  const refused = judgeRelease('relocate', '5.1.2', false);
  t.match(refused, {
    ok: false,
    expected: /^OpenShift 4\.19 to 5\.0, .*relocation/,
    found: '5.1.2',
    fix: /--accept-unknown-release on a host that you can lose: it is treated as 5\.0/,
  });
  t.match(judgeRelease('relocate', '5.1.2', true), {
    ok: true,
    minor: '5.1',
    as: '5.0',
    notice: /OpenShift 5\.1\.2 is unknown to relocation, and is treated as 5\.0/,
  });
  t.match(judgeRelease('takeOver', '5.1.0-okd-scos.0', false), { expected: /^OKD 4\.14 to 5\.0/ });
  // Between two known ones, as a release would be that was made afterwards.
  t.match(judgeRelease('takeOver', '4.24.0', false), { ok: false });
  t.match(judgeRelease('takeOver', '4.24.0', true), { ok: true, as: '4.23' });
});

t.test('what is too old, or no version, is refused whatever is accepted', async (t) => {
  for (const version of ['4.18.3', '4.9.1', '3.11.0', 'latest', '', undefined]) {
    const judged = judgeRelease('relocate', version, true);
    t.match(judged, { ok: false, found: version ?? 'no version', fix: /^Use one of these/ });
    t.notMatch(JSON.stringify(judged), /accept-unknown/, 'and the option is not offered');
  }
});

t.test("OKD's versions", async (t) => {
  for (const version of ['4.21.0-okd-scos.3', '4.15.0-0.okd-2024-03-10-010116']) {
    t.ok(isOkd(version), version);
  }
  for (const version of ['4.21.0', '4.19.0-0.nightly-2026-01-01-000000', '4.22.0-rc.1']) {
    t.notOk(isOkd(version), version);
  }
});
