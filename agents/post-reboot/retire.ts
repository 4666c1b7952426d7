import { RESTORE_FOLDER } from '../../lib/cluster/installation/snapshot-record.ts';
import { retireAgent } from '../steps/retire.ts';

/** The last step of this plan: see there. The journals of the live host are in `live`. */
export const retire = retireAgent('post-reboot', [RESTORE_FOLDER, 'live']);
