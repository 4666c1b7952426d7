import t from 'tap';
import { isCoreOs, prettyName } from '../../../lib/host/core-os.ts';

const cases: readonly [what: string, osRelease: string, expected: boolean][] = [
  [
    'RHCOS of 4.18',
    'NAME="Red Hat Enterprise Linux CoreOS"\nID="rhcos"\nVERSION_ID="4.18"\n',
    true,
  ],
  ['RHCOS of 5.0', 'ID="rhel"\nVERSION_ID="10.1"\nVARIANT=CoreOS\nVARIANT_ID=coreos\n', true],
  ['SCOS of 4.16', 'NAME="CentOS Stream CoreOS"\nID="scos"\nVARIANT_ID=coreos\n', true],
  ['SCOS of 5.0', 'ID=\'centos\'\nVERSION_ID="10"\nVARIANT_ID=coreos\n', true],
  ['RHEL', 'ID="rhel"\nVERSION_ID="9.6"\n', false],
  ['CentOS Stream', 'ID="centos"\nVARIANT_ID=server\n', false],
  ['Fedora CoreOS', 'ID=fedora\nVARIANT_ID=coreos\n', false],
  ['Debian', 'ID=debian\nID_LIKE="rhcos"\n', false],
  ['nothing', '', false],
];

for (const [what, osRelease, expected] of cases) {
  t.test(what, async (t) => void t.equal(isCoreOs(osRelease), expected));
}

t.test('its name for people', async (t) => {
  t.equal(
    prettyName('PRETTY_NAME="CentOS Stream CoreOS 10.0 (Coughlan)"\n'),
    'CentOS Stream CoreOS 10.0 (Coughlan)',
  );
  t.equal(prettyName('ID=x\n'), undefined);
});
