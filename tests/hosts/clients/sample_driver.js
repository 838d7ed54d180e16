// Drives the sample host as a person does, with keys, and looks at what the page shows. Electron loads it before the
// app (`--require`), so that the app itself has nothing in it for a test.
const { app, nativeTheme } = require("electron");
const fs = require("fs");
const path = require("path");

const PICTURES = process.env.DRIVER_PICTURES;
const FILE = path.join(process.env.SAMPLE_WORKSPACE, "poem.txt");

app.once("browser-window-created", (_event, window) => {
  window.webContents.once("did-finish-load", () => {
    window.webContents.on("console-message", (_e, level, message) => level > 1 && console.error("page:", message));
    drive(window)
      .then((facts) => {
        process.stdout.write(JSON.stringify(facts) + "\n");
        window.close();
      })
      .catch((error) => {
        console.error(error);
        app.exit(1);
      });
  });
});

async function drive(window) {
  const { webContents } = window;
  const look = (code) =>
    webContents.executeJavaScript(code).catch((error) => {
      throw new Error(`${error.message}, looking at ${code}`);
    });
  const text = (id) => look(`document.getElementById(${JSON.stringify(id)}).innerText`);
  const until = async (code, what) => {
    for (let turn = 0; turn < 1000; turn++) {
      if (await look(`Boolean(${code})`)) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`it never came: ${what || code}; the page says ${await look("document.body.innerText")}`);
  };
  const status = (words) => until(`document.getElementById("status").innerText.includes(${JSON.stringify(words)})`, words);
  const press = (keyCode, modifiers = []) => {
    webContents.sendInputEvent({ type: "keyDown", keyCode, modifiers });
    if (keyCode.length === 1) webContents.sendInputEvent({ type: "char", keyCode, modifiers });
    if (keyCode === "Enter") webContents.sendInputEvent({ type: "char", keyCode: "\u000d" });
    webContents.sendInputEvent({ type: "keyUp", keyCode, modifiers });
  };
  const type = (words) => [...words].forEach((letter) => press(letter));
  const focus = (id) => look(`document.getElementById(${JSON.stringify(id)}).focus()`);
  const picture = async (name) => {
    await look("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    const image = await webContents.capturePage();
    fs.writeFileSync(path.join(PICTURES, `${name}.png`), image.toPNG());
  };
  const facts = {};

  await status("Connected");
  facts.inThePage = await look(
    "[typeof require, typeof process, typeof module, Object.keys(window.host).sort().join(' ')].join(', ')",
  );
  facts.notAllowed = await look("host.request('thread/delete', { threadId: 'x' }).then((reply) => reply.error.message)");

  // two turns: the window has the keyboard, and the composer has the focus from the start
  webContents.focus();
  await focus("prompt");
  type("Over and under");
  press("Enter");
  await status("The turn is completed");
  await until("document.querySelectorAll('#checkpoints li').length === 1", "the first checkpoint");
  await look("document.getElementById('status').textContent = ''");
  await focus("prompt");
  type("locked");
  press("Enter");
  await status("The turn is completed");
  await until("document.querySelectorAll('#checkpoints li').length === 2", "the second checkpoint");
  facts.title = await text("title");
  await until("document.getElementById('threads').innerText.includes('2 turns')");
  facts.threads = await look("[...document.querySelectorAll('#threads li')].map((row) => row.innerText)");
  facts.items = await look("[...document.querySelectorAll('#timeline article')].map((item) => item.className)");

  // the newest checkpoint, by keyboard
  await focus("checkpoints");
  press("Home");
  await until("document.querySelectorAll('#diff .add').length === 1 && document.querySelector('#diff .context')", "its diff");
  facts.diff = await look("[...document.querySelectorAll('#diff .code > div')].map((row) => row.className + row.lastChild.innerText)");
  nativeTheme.themeSource = "light";
  await until("matchMedia('(prefers-color-scheme: light)').matches");
  await picture("light");
  nativeTheme.themeSource = "dark";
  await until("matchMedia('(prefers-color-scheme: dark)').matches");
  await picture("dark");
  press("Down");
  await until("document.querySelectorAll('#diff .code > div').length === 1", "the older one's diff");

  // restore it: its plan, then the act, then undone
  await look("document.getElementById('restore').click()");
  await until("document.getElementById('plan').open");
  facts.plan = await text("plan-body");
  await picture("plan");
  await look("document.getElementById('plan-act').focus()");
  press("Enter");
  await status("is restored");
  facts.restored = fs.readFileSync(FILE, "utf8");
  await until("!document.getElementById('undo').disabled");
  await look("document.getElementById('undo').click()");
  await status("undone");
  facts.undone = fs.readFileSync(FILE, "utf8");

  // somebody else changed it: refused, unless what is there is kept
  fs.writeFileSync(FILE, "mine\n");
  await focus("checkpoints");
  press("End");
  await until("document.querySelectorAll('#diff .code > div').length === 1");
  await look("document.getElementById('restore').click()");
  await until("document.getElementById('plan').open");
  facts.conflict = await text("plan-body");
  facts.refused = await look("document.getElementById('plan-act').disabled");
  press("Escape");
  await until("!document.getElementById('plan').open");
  facts.untouched = fs.readFileSync(FILE, "utf8");
  await look("document.getElementById('restore').click()");
  await until("document.getElementById('plan').open");
  await look("document.getElementById('backup').click()");
  await look("document.getElementById('plan-act').click()");
  await status("is restored");
  await until("[...document.querySelectorAll('#checkpoints small')].some((row) => row.innerText.startsWith('external'))", "what was there");

  // a crash of the sidecar, seen by the user as a moment
  await look("document.getElementById('status').textContent = ''");
  const found = fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name)).filter((name) => {
    try {
      const parent = fs.readFileSync(`/proc/${name}/stat`, "utf8").split(") ")[1].split(" ")[1];
      return Number(parent) === process.pid && fs.readFileSync(`/proc/${name}/cmdline`, "utf8").includes("--parent-pid");
    } catch (_) {
      return false;
    }
  });
  process.kill(Number(found[0]), "SIGKILL");
  await status("Connected");
  await focus("prompt");
  type("again");
  press("Enter");
  await status("The turn is completed");
  facts.turns = await look("document.querySelectorAll('#timeline .turn').length");

  // search and export
  await focus("search");
  type("zebra");
  await until("document.getElementById('threads').innerText.includes('Nothing found')");
  press("Escape");
  type("add a line"); // the agent's words, in no name
  await until("document.querySelectorAll('#threads li').length === 1");
  facts.found = await look("document.querySelector('#threads li').innerText");
  press("Escape");
  await until("document.getElementById('threads').innerText.includes('3 turns')");
  await look("document.getElementById('export').click()");
  await status("Exported");
  return facts;
}
