/**
 * Modules stand in the program in the order in which they are imported first. Texts beside texts and style sheets beside
 * style sheets pack a twentieth smaller, so these come before all others; nothing else depends on it.
 */
import "./words";
import "./views/stages/words";
import "./views/stages/refusals";
import "./views/design/words";
import "./views/heads/words";
import "./views/map/words";
import "./views/compare/words";
import "./views/cuts/words";
import "./look/page.css";
import "./views/stages/stages.css";
import "./views/design/design.css";
import "./views/heads/heads.css";
import "./views/map/map.css";
import "./views/compare/compare.css";
import "./views/cuts/cuts.css";
