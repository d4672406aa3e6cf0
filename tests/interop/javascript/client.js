// Microsoft's JavaScript client against the gateway at COSMOS_ENDPOINT.
//
//     node client.js [PART OF A NAME]
//
// Prints one line a check: `ok NAME` or `FAILED NAME: why`.

import "./documents.js";
import "./queries.js";
import "./feed.js";
import "./history.js";
import "./splits.js";
import { run } from "./check.js";

// A feed without an end would hold the tests up for ever.
setTimeout(() => {
  console.log("FAILED in_time: it took more than three minutes");
  process.exit(1);
}, 180_000).unref();

// The client keeps timers and sockets that would hold the program up.
process.exit((await run(process.argv[2] ?? "")) ? 0 : 1);
