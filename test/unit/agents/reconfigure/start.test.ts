/** What the step start leaves to others, on a host in a folder. */
import t from 'tap';
import { wantedIdentity } from '../../../../agents/reconfigure/context.ts';
import { startAtSite } from '../../../../agents/reconfigure/start.ts';
import { identityChange } from '../../../../lib/change/identity/request.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { arrived } from './site-host.ts';

t.test(
  'start: a change of the identity, which leaves the wait for rest to the last step',
  async (t) => {
    const { host, run, context, request } = await arrived(t);
    host.programs.give('systemctl', 'exit 0');
    t.match(
      await thrownBy(run(startAtSite)),
      { message: /could not be given its name/ },
      'no agent ran',
    );
    const change = { from: request.from, to: wantedIdentity(context), settlesLater: true };
    t.match(await identityChange.read(host.paths), change);
  },
);
