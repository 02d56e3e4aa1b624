// What is ours on the page of viser: title, sheets over the scene, lists that are searched, files that are dropped, narrow windows.
const ROOM = "/rattleback/", OWN = {headers: {"X-Rattleback": "page"}, cache: "no-store"};
const ENDED = "The simulator has ended, or cannot be reached. Once it runs again, open the address that it prints.";
// Sheets by what the buttons that open them say in data-rattleback, with their keys.
const SHEETS = {gallery: ["Scenes", "g"], keys: ["Mouse and keys", "?"], link: ["A link to this scene", ""],
  verdict: ["How accurate the last step was", ""]};
const NARROW = matchMedia("(max-width: 36em)");

function made(kind, fields, ...inside) {
  const there = Object.assign(document.createElement(kind), fields);
  there.append(...inside);
  return there;
}

function closeSheet() {
  document.getElementById("rattleback-sheet")?.remove();
}

async function openSheet(name) {
  closeSheet();
  const search = made("input", {type: "search", placeholder: "Search", ariaLabel: "Search scenes"});
  const shut = made("button", {type: "button", textContent: "✕", ariaLabel: "Close", onclick: closeSheet});
  const head = made("header", {}, made("h1", {textContent: SHEETS[name][0]}), shut);
  const body = made("div", {}), sheet = made("div", {id: "rattleback-sheet"}, head, body);
  sheet.setAttribute("role", "dialog");
  sheet.setAttribute("aria-label", SHEETS[name][0]);
  if (name === "gallery") shut.before(search);
  else sheet.dataset.small = "";
  search.oninput = () => narrowDown(sheet, search.value.toLowerCase());
  document.body.append(sheet);
  try {
    const answer = await fetch(ROOM + name, OWN);
    if (answer.ok) body.innerHTML = await answer.text();
    else body.append(made("p", {className: "fault", textContent: await answer.text()}));
  } catch {
    body.textContent = ENDED;
  }
  for (const there of body.querySelectorAll("pre")) {
    if ("address" in there.dataset) there.prepend(location.origin);
    const copy = made("button", {type: "button", className: "copy", textContent: "Copy"}), text = there.textContent;
    copy.onclick = () => navigator.clipboard?.writeText(text).then(() => { copy.textContent = "Copied"; });
    there.after(copy);
  }
  if (name === "gallery" && !NARROW.matches) search.focus();
}

function narrowDown(sheet, text) {
  for (const group of sheet.querySelectorAll("section")) {
    const cards = [...group.querySelectorAll("[data-scene]")];
    for (const card of cards) card.style.display = card.textContent.toLowerCase().includes(text) ? "" : "none";
    group.hidden = cards.every((card) => card.style.display);
  }
}

async function openScene(name) {
  const answer = await fetch(`${ROOM}open?scene=${encodeURIComponent(name)}`, OWN);
  if (answer.ok) closeSheet();
  else document.querySelector("#rattleback-sheet > div")
    ?.prepend(made("p", {className: "fault", textContent: await answer.text()}));
}

function isTyped(there) {
  return there?.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(there?.tagName);
}

function watchTitle() {
  const word = document.body.appendChild(made("div", {id: "rattleback-ended", hidden: true, textContent: ENDED}));
  let missed = 0;
  setInterval(async () => {
    let name = "";
    try {
      const answer = await fetch(ROOM + "name", {cache: "no-store"});
      name = answer.ok ? await answer.text() : "";
    } catch {}
    missed = name ? 0 : missed + 1;
    word.hidden = missed < 2;
    document.title = name || document.title;
  }, 2000);
}

function middleOf(there) {
  const box = there.firstChild.getBoundingClientRect();
  return [box.x + 0.5 * box.width, box.y + 0.5 * box.height];
}

function fitNarrow() {
  // Fold the panel, which lies over the scene; Play and the verdict stay in sight.
  new MutationObserver((_, watch) => {
    const head = document.querySelector("[style*='height: 3.5em'][style*='cursor: pointer']");
    if (head && NARROW.matches) { watch.disconnect(); head.click(); }
  }).observe(document.body, {childList: true, subtree: true});
  const chip = made("span", {}), play = made("button", {type: "button", textContent: "▶︎", ariaLabel: "Run or pause"});
  chip.dataset.chip = "";
  const within = () => document.querySelector("[data-rattleback-chip]");
  play.onclick = () => document.body.dispatchEvent(
    new KeyboardEvent("keydown", {key: " ", code: "Space", bubbles: true}));
  const strip = document.body.appendChild(made("div", {id: "rattleback-strip"}, play, chip));
  setInterval(() => {
    const there = NARROW.matches && within();
    strip.hidden = !there || there.contains(document.elementFromPoint(...middleOf(there)));
    if (strip.hidden) return;
    if (chip.innerHTML !== there.outerHTML) chip.innerHTML = there.outerHTML;
    play.textContent = there.dataset.rattlebackChip === "playing" ? "❚❚" : "▶︎";
  }, 300);
}

function takeDrops() {
  // A file that is dropped goes to the button that takes such files.
  addEventListener("dragover", (event) => {
    if (event.dataTransfer.types.includes("Files")) event.preventDefault();
  });
  addEventListener("drop", (event) => {
    const file = event.dataTransfer.files[0];
    if (!file) return;
    event.preventDefault();
    const ends = (input) => input.accept.split(",").some((end) => file.name.toLowerCase().endsWith(end));
    const inputs = [...document.querySelectorAll("input[type=file]")], input = inputs.find(ends) ?? inputs[0];
    if (!input) return;
    input.files = event.dataTransfer.files;
    input.dispatchEvent(new Event("change", {bubbles: true}));
  });
}

function layUnder() {
  // What lies under the view is as broad as the view.
  setInterval(() => {
    const view = document.querySelector("div[style*='inset: 0px']:has(> canvas)");
    for (const side of view ? ["left", "right"] : [])
      document.documentElement.style.setProperty(`--free-${side}`, view.style[side]);
  }, 300);
}

function sayArrived() {
  // viser calls a file a success once it has arrived; whether it can be read is known only then.
  new MutationObserver((changes) => {
    for (const {target} of changes) {
      const text = target.nodeType === Node.TEXT_NODE ? target : target.firstChild;
      if (text?.nodeValue === "File uploaded successfully.") text.nodeValue = "The file has arrived.";
    }
  }).observe(document.body, {childList: true, characterData: true, subtree: true});
}

addEventListener("DOMContentLoaded", () => {
  watchTitle();
  sayArrived();
  layUnder();
  fitNarrow();
  takeDrops();
  if (document.querySelector("meta[name=rattleback-greets]")) openSheet("gallery");
  for (const kind of ["focusin", "click"])
    addEventListener(kind, (event) => {
      if (event.target.matches?.("input.mantine-Select-input")) event.target.select();
    });
  addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-rattleback], [data-scene]");
    if (button?.dataset.rattleback in SHEETS) openSheet(button.dataset.rattleback);
    else if (button?.dataset.scene) openScene(button.dataset.scene);
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") closeSheet();
    if (isTyped(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    const name = Object.keys(SHEETS).find((one) => SHEETS[one][1] && SHEETS[one][1] === event.key);
    if (name) openSheet(name);
  });
});
