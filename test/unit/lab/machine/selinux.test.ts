import t from 'tap';
import { deniedIn } from '../../../../lab/machine/shown/selinux.ts';

/** As journalctl writes it, with what differs between two of one kind. */
const line = (pid: number, permissions: string, type: string) =>
  `2026-11-26T13:15:31.288719+0000 kernel: audit: type=1400 audit(1795699531.4:${pid}): avc:  denied  { ${permissions} } for  pid=${pid} comm="systemd-tmpfile" name=".ssh" dev="vda4" ino=12 scontext=system_u:system_r:systemd_tmpfiles_t:s0 tcontext=unconfined_u:object_r:${type}:s0 tclass=dir permissive=0`;

t.test('what was denied in a boot, each once', async (t) => {
  const journal = [
    line(611, 'relabelto', 'ssh_home_t'),
    '2026-11-26T13:15:31.3+0000 systemd[1]: Started sno-renew.service.',
    line(612, 'relabelto', 'ssh_home_t'),
    line(613, 'create write', 'ssh_home_t'),
    '2026-11-26T13:15:32.1+0000 kernel: audit: type=1400 audit(1795699532.1:9): avc:  granted  { setenforce } for  pid=1 comm="systemd" scontext=a tcontext=b tclass=security',
    "2026-11-26T15:12:43.8+0000 kernel: audit: type=1107 audit(1795705963.8:3): pid=483 uid=100 auid=4294967295 ses=4294967295 subj=a msg='avc:  denied  { send_msg } for msgtype=method_return dest=:1.34 spid=1490 tpid=1489 scontext=hostnamed_t tcontext=initrc_t tclass=dbus permissive=1",
    '2026-11-26T13:15:33.1+0000 kernel: audit: type=1401 audit(1795699533.1:9): op=security_bounded_transition seresult=denied oldcontext=a newcontext=b',
  ].join('\n');
  const contexts =
    'scontext=system_u:system_r:systemd_tmpfiles_t:s0 tcontext=unconfined_u:object_r:ssh_home_t:s0 tclass=dir';
  t.same(deniedIn(journal), [
    `{ relabelto } "systemd-tmpfile" ${contexts}`,
    `{ create write } "systemd-tmpfile" ${contexts}`,
    '{ send_msg } a message scontext=hostnamed_t tcontext=initrc_t tclass=dbus',
  ]);
  t.same(deniedIn('2026-11-26T13:15:31.3+0000 systemd[1]: Started.'), []);
});

t.test(
  'what the system denies its own programs is not counted, but nothing else of them',
  async (t) => {
    const multipath = (permissions: string, type: string) =>
      line(5000, permissions, type)
        .replace('systemd-tmpfile', 'multipath')
        .replace('systemd_tmpfiles_t', 'lvm_t');
    t.same(deniedIn(multipath('read', 'systemd_unit_t')), []);
    t.equal(deniedIn(multipath('write', 'systemd_unit_t')).length, 1);
    t.equal(deniedIn(multipath('read', 'etc_t')).length, 1);
  },
);
